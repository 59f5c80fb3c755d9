// Semantic roles without ELMo: paper, appendix A.5 (He et al. 2017: eight highway LSTM layers of alternating direction;
// CoNLL-2012).
//
// Departures from the paper
//   all: the input projection of the highway has a bias, which starts at 0 (as the authors' code has it; the equations
//     have none). AllenNLP's configuration with ELMo has no bias at the input, the one without a random one. The predicate indicator is on the predicate's one word, also where the annotation calls more words V.
//     A word is looked up as written, then lower-cased; words of other texts are looked up in the file when they are
//     evaluated, as He et al.'s code does.
//   what the paper leaves open: batches of 80, one instance per predicate, none for sentences without one. As in He et
//     al.'s code, dropout masks h_t itself, so that the next layer reads the masked h_t; in AllenNLP's, with which the
//     paper's numbers were computed, it masks the recurrence alone ('model.encoder.dropout_outputs': false). Training
//     sentences of over 100 words, which He et al. leave out, are kept, as in AllenNLP's. The loss is
//     the mean over a sentence's tokens, and gradients are clipped by value, as in AllenNLP's code. He et al. sum over
//     the tokens and clip the norm (-o '{"model.sum_token_losses": true, "trainer.grad_clipping": null,
//     "trainer.grad_norm": 1.0}'); the sum with clipped values diverges.
//   small: other data (English Web Treebank, of which only the 31,136 verbs in training are read; paper reads every
//     predicate of CoNLL-2012, as the authors' code does) and word vectors; a cap of 20 epochs for both
//     rows, of 65 batches each, a sixth of the data (1,300 updates, 3.3 passes), so that neither has converged.
//   mini: the synthetic corpus (500 sentences), four layers of 100 units, dropout 0.2, batches of 16, a cap of 25
//     epochs, Adam with 2e-3 falling to 0 in a line: Adadelta has hardly begun after so few updates.
//
// Expected F1: paper 81.4 (CoNLL-2012 test; 81.6 dev); small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/srl.jsonnet -s out/srl
//   allennlp evaluate out/srl/model.tar.gz TEST_FOLDER --predictions-output-file out/srl/test.props
//   perl srl-eval.pl out/srl/test.props.gold out/srl/test.props
// Time: mini a minute, small 40 minutes, on one CPU core; paper some days on a GPU.
local hidden_fields = import 'lib/hidden_fields.libsonnet';
local settings = import 'lib/settings.libsonnet';
local words = import 'lib/words.libsonnet';

hidden_fields.checked({
  train_file:: settings.file('srl/train'),
  validation_file:: settings.file('srl/development'),
  // Of a file; { embedding_dim: 50 } for learned ones, null for none.
  vectors:: settings.choose({
    mini: { pretrained_file: settings.file('vectors/w2v.100d.txt.gz'), embedding_dim: 100 },
    small: self.mini,
    paper: { pretrained_file: settings.file('vectors/glove.6B.100d.txt'), embedding_dim: 100, unknown: 'random' },
  }),
  indicator_dim:: 100,

  num_layers:: settings.choose({ mini: 4, small: 8, paper: 8 }),
  hidden_size:: settings.choose({ mini: 100, small: 300, paper: 300 }),
  dropout:: settings.choose({ mini: 0.2, small: 0.1, paper: 0.1 }),
  // 'bfloat16' for the encoder's matrix products: 1.7 times as fast on a CPU that has it (docs/PERFORMANCE.md).
  precision:: null,

  batch_size:: settings.choose({ mini: 16, small: 80, paper: 80 }),
  batches_per_epoch:: settings.choose({ mini: null, small: 65, paper: null }),
  optimizer:: settings.choose({
    mini: { type: 'adam', lr: 2e-3 },
    small: self.paper,
    paper: { type: 'adadelta', lr: 1.0, rho: 0.95, eps: 1e-6 },
  }),
  warmup_steps:: settings.choose({ mini: 50, small: null, paper: null }),
  num_epochs:: settings.choose({ mini: 25, small: 20, paper: 500 }),
  patience:: settings.choose({ mini: null, small: null, paper: 200 }),

  // The treebanks of mini and small also annotate nouns and adjectives.
  verbs_only:: settings.choose({ mini: true, small: true, paper: false }),

  dataset_reader: { type: 'elmo_tasks_srl', verbs_only: $.verbs_only },
  train_data_path: $.train_file,
  validation_data_path: $.validation_file,
  model: {
    type: 'elmo_tasks_srl',
    text_field_embedder: {
      token_embedders: words.embedder($.vectors, { trainable: true }) + {
        predicate: { type: 'embedding', num_embeddings: 3, embedding_dim: $.indicator_dim, padding_index: 0 },
      },
    },
    word_vectors: $.vectors != null,
    sum_token_losses: false,
    encoder: {
      type: 'elmo_tasks_highway_lstm',
      hidden_size: $.hidden_size,
      num_layers: $.num_layers,
      dropout: $.dropout,
      dropout_outputs: true,
      precision: $.precision,
    },
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: $.batch_size, sorting_keys: ['tokens'] },
    [if $.batches_per_epoch != null then 'batches_per_epoch']: $.batches_per_epoch,
  },
  validation_data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 80, sorting_keys: ['tokens'], padding_noise: 0 },
  },
  evaluation: { type: 'elmo_tasks_srl' },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: $.num_epochs,
    [if $.patience != null then 'patience']: $.patience,
    validation_metric: '+f1',
    optimizer: $.optimizer,
    [if $.warmup_steps != null then 'learning_rate_scheduler']: {
      type: 'linear_with_warmup',
      warmup_steps: $.warmup_steps,
    },
    grad_clipping: 1.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
})
