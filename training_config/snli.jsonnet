// Textual entailment without ELMo: paper, appendix A.3 (the ESIM sequence model of Chen et al. 2017; SNLI).
//
// Departures from the paper
//   all: no `_BOS_` and `_EOS_` around the sentences, which the code of Chen et al. adds. A learning rate that is
//     halved continues from the last weights; theirs returns to the best ones. Where the paper and the codes differ,
//     this follows the paper: word vectors are fixed (AllenNLP and Chen et al. train them), all feed-forward layers
//     have ReLU (Chen et al.: tanh in the hidden one), dropout at LSTM inputs is variational (Chen et al.: ordinary),
//     gradient norms are clipped at 5 (both: 10).
//   what the paper leaves open: words are the leaves of the parses at paper, as in the code of Chen et al., with
//     brackets for -LRB- and -RRB-, and spaCy's at mini and small, whose data have no parses
//     (`dataset_reader.tokenization`); a word is looked up as written, then lower-cased; forget biases start at 1 (Chen
//     et al.: 0), recurrences orthogonal and input weights Glorot-uniform for each gate (AllenNLP: for all gates
//     together); at most 75 epochs with patience 5, as AllenNLP's. The L2 penalty is the coefficient times the sum of squares, as
//     AllenNLP's regularizers; for the other reading, with a factor of one half, set `weight_l2:: 5e-5`. 300 units are
//     per direction. Pairs without a gold label (`-`) are left out.
//   small: other data (13,100 of the 549,367 training pairs) and vectors of 100 dimensions; a cap of 3 epochs for both
//     rows, so that neither is said to have converged: Adam with 1e-3 that falls to 0, dropout 0.2, and of what comes
//     with ELMo no dropout behind the attention and an L2 penalty of 1e-6, all for the far fewer updates (with the
//     paper's values six epochs came to 59). No early stopping.
//   mini: the synthetic corpus, 64 units, vectors of 100 dimensions, dropout 0.2, Adam with 2e-3, a cap of 20 epochs.
//     The learning rate is not halved, since 600 pairs are too few to tell whether accuracy rose. The L2 penalty that
//     comes with ELMo is 1e-6, for the far fewer updates.
//
// Expected accuracy: paper 88.0 (test; 88.1 dev); small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/snli.jsonnet -s out/snli
//   allennlp evaluate out/snli/model.tar.gz snli_1.0_test.jsonl
// Time: mini two minutes, small ten minutes on one CPU core; paper some hours on a GPU.
local hidden_fields = import 'lib/hidden_fields.libsonnet';
local settings = import 'lib/settings.libsonnet';
local words = import 'lib/words.libsonnet';

hidden_fields.checked({
  train_file:: settings.file('snli/snli_1.0_train.jsonl'),
  validation_file:: settings.file('snli/snli_1.0_dev.jsonl'),
  // Of a file; { embedding_dim: 50 } for learned ones, null for none.
  vectors:: settings.choose({
    mini: { pretrained_file: settings.file('vectors/w2v.100d.txt.gz'), embedding_dim: 100 },
    small: self.mini,
    paper: { pretrained_file: settings.file('vectors/glove.840B.300d.txt'), embedding_dim: 300, unknown: 'random' },
  }),

  hidden_size:: settings.choose({ mini: 64, small: 300, paper: 300 }),
  dropout:: settings.choose({ mini: 0.2, small: 0.2, paper: 0.5 }),
  attention_dropout:: settings.choose({ mini: 0.2, small: 0.0, paper: 0.5 }),
  weight_l2:: settings.choose({ mini: 1e-6, small: 1e-6, paper: 1e-4 }),

  batch_size:: 32,
  learning_rate:: settings.choose({ mini: 2e-3, small: 1e-3, paper: 4e-4 }),
  scheduler:: settings.choose({
    mini: null,
    small: { type: 'linear_with_warmup', warmup_steps: 50 },
    paper: { type: 'reduce_on_plateau', mode: 'max', factor: 0.5, patience: 0 },
  }),
  num_epochs:: settings.choose({ mini: 20, small: 3, paper: 75 }),
  patience:: settings.choose({ mini: null, small: null, paper: 5 }),

  // `parse`: the leaves of `sentence1_binary_parse` and `sentence2_binary_parse`; `sentence`: words by spaCy's rules.
  tokenization:: settings.choose({ mini: 'sentence', small: 'sentence', paper: 'parse' }),

  dataset_reader: { type: 'elmo_tasks_snli', tokenization: $.tokenization },
  train_data_path: $.train_file,
  validation_data_path: $.validation_file,
  model: {
    type: 'elmo_tasks_snli',
    text_field_embedder: {
      token_embedders: words.embedder($.vectors, { trainable: false }),
    },
    word_vectors: $.vectors != null,
    encoder: { type: 'elmo_tasks_stacked_lstm', hidden_sizes: [$.hidden_size], dropout: $.dropout },
    composition: { type: 'elmo_tasks_stacked_lstm', hidden_sizes: [$.hidden_size], dropout: $.dropout },
    hidden_size: $.hidden_size,
    dropout: $.dropout,
    // These two work with ELMo only.
    attention_dropout: $.attention_dropout,
    weight_l2: $.weight_l2,
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: $.batch_size, sorting_keys: ['premise', 'hypothesis'] },
  },
  validation_data_loader: {
    batch_sampler: {
      type: 'bucket',
      batch_size: 64,
      sorting_keys: ['premise', 'hypothesis'],
      padding_noise: 0,
    },
  },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: $.num_epochs,
    [if $.patience != null then 'patience']: $.patience,
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: $.learning_rate },
    [if $.scheduler != null then 'learning_rate_scheduler']: $.scheduler,
    grad_norm: 5.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
})
