// Sentiment of sentences without ELMo: paper, appendix A.8 (biattentive classification network; Stanford Sentiment
// Treebank, five classes).
//
// Departures from the paper
//   all: biattention is that of a text with itself, as in AllenNLP's re-implementation; nothing depends on padding.
//     McCann et al. add character n-grams to GloVe, here as in AllenNLP there are none; words without a vector have
//     zeros at paper, as there, and the mean at mini and small. Training has the phrases of four or more words,
//     repeated ones too (93,567 of train.txt's), among them the sentences that long, and none of the 136 shorter ones.
//     Dev and test have whole
//     sentences, `validation_dataset_reader`, so that `allennlp evaluate` scores these. Word vectors are fixed.
//   what the paper leaves open: batches of 100, at most 40 epochs with patience 5, norm clip 5, dropout 0.25 at the
//     input and behind the feed-forward layer, 0.1 behind the poolings, as AllenNLP has them (at mini and small the one
//     at the input is variational); 1200 and 600 units and dropout 0.2 in the ReLU layers. LSTMs start with orthogonal
//     recurrences and forget biases of 1, AllenNLP's as torch's do.
//   AllenNLP's configuration is a file with (import 'sst_elmo.jsonnet') { preset:: 'allennlp' }.
//   small: vectors of 100, half the units (150, and 600 and 300 in the ReLU layers), a cap of 8 epochs of 250 updates
//     of 50 phrases (one pass) for both rows alike, Adam with 1e-3 that falls to 0, dropout 0.1 in place of 0.25, no
//     early stopping: the rows compare, but neither is said to have converged.
//   mini: the synthetic corpus (200 sentences), a smaller model, phrases of two or more words, batches of 32, 18
//     epochs, Adam with 1e-3 that falls to 0, no dropout at the input: with 0.25 the polarity of words was not learned
//     in time.
//
// Expected accuracy: paper 51.4 (test, five classes; AllenNLP's re-implementation 51.3); small and mini:
//   docs/RESULTS.md.
// Command: allennlp train training_config/sst.jsonnet -s out/sst
//   allennlp evaluate out/sst/model.tar.gz test.txt
// Time: mini a minute, small nine minutes on one CPU core; paper an hour on a GPU.
local hidden_fields = import 'lib/hidden_fields.libsonnet';
local settings = import 'lib/settings.libsonnet';
local words = import 'lib/words.libsonnet';

hidden_fields.checked({
  train_file:: settings.file('sst/train.txt'),
  validation_file:: settings.file('sst/dev.txt'),
  // Of a file; { embedding_dim: 50 } for learned ones, null for none.
  vectors:: settings.choose({
    mini: { pretrained_file: settings.file('vectors/w2v.100d.txt.gz'), embedding_dim: 100 },
    small: self.mini,
    paper: { pretrained_file: settings.file('vectors/glove.840B.300d.txt'), embedding_dim: 300, unknown: 'zero' },
  }),
  // Two readings of A.8: `paper`, its text, and `allennlp`, the configuration that replicated 54.7: all phrases, maxout,
  // a learning rate of 1e-3, ELMo at the input alone, without lambda, and at paper dropout of 0.5 on all that the
  // feed-forward layer reads in place of 0.5 on ELMo's vectors.
  preset:: 'paper',
  presets:: {
    paper: {
      min_phrase_length: settings.choose({ mini: 2, small: 4, paper: 4 }),
      head: 'elmo_tasks_relu',
      head_dropout: settings.choose({ mini: [0.1, 0.1], small: [0.2, 0.2], paper: [0.2, 0.2] }),
      learning_rate: settings.choose({ mini: 1e-3, small: 1e-3, paper: 1e-4 }),
      elmo: { at: 'both', l2: 0.001, dropout: settings.choose({ mini: 0.1, small: 0.1, paper: 0.5 }) },
    },
    allennlp: {
      min_phrase_length: 1,
      head: 'elmo_tasks_maxout',
      head_dropout: [0.2, 0.3],
      learning_rate: 1e-3,
      elmo: { at: 'input', l2: null, dropout: 0.0 },
    },
  },
  min_phrase_length:: $.presets[$.preset].min_phrase_length,

  hidden_size:: settings.choose({ mini: 100, small: 150, paper: 300 }),
  head_sizes:: settings.choose({ mini: [200, 100], small: [600, 300], paper: [1200, 600] }),
  input_dropout:: settings.choose({ mini: 0.0, small: 0.1, paper: 0.25 }),
  feedforward_dropout:: settings.choose({ mini: 0.1, small: 0.1, paper: 0.25 }),
  pooled_dropout:: 0.1,

  batch_size:: settings.choose({ mini: 32, small: 50, paper: 100 }),
  batches_per_epoch:: settings.choose({ mini: null, small: 250, paper: null }),
  learning_rate:: $.presets[$.preset].learning_rate,
  // Updates after which the learning rate falls, linearly to 0; null holds it.
  warmup_steps:: settings.choose({ mini: 20, small: 20, paper: null }),
  num_epochs:: settings.choose({ mini: 18, small: 8, paper: 40 }),
  patience:: settings.choose({ mini: null, small: null, paper: 5 }),

  dataset_reader: { type: 'elmo_tasks_sst', min_phrase_length: $.min_phrase_length },
  validation_dataset_reader: { type: 'elmo_tasks_sst' },
  train_data_path: $.train_file,
  validation_data_path: $.validation_file,
  model: {
    type: 'elmo_tasks_sst',
    text_field_embedder: {
      token_embedders: words.embedder($.vectors, { trainable: false }),
    },
    word_vectors: $.vectors != null,
    encoder: {
      type: 'elmo_tasks_feedforward_lstm',
      feedforward_size: $.hidden_size,
      feedforward_dropout: $.feedforward_dropout,
      hidden_sizes: [$.hidden_size],
    },
    integrator: { type: 'elmo_tasks_stacked_lstm', hidden_sizes: [$.hidden_size] },
    head: {
      type: $.presets[$.preset].head,
      hidden_sizes: $.head_sizes,
      dropout: $.presets[$.preset].head_dropout,
    },
    input_dropout: $.input_dropout,
    [if settings.scale == 'paper' then 'variational_dropout']: false,
    pooled_dropout: $.pooled_dropout,
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: $.batch_size, sorting_keys: ['tokens'] },
    [if $.batches_per_epoch != null then 'batches_per_epoch']: $.batches_per_epoch,
  },
  validation_data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 64, sorting_keys: ['tokens'], padding_noise: 0 },
  },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: $.num_epochs,
    [if $.patience != null then 'patience']: $.patience,
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: $.learning_rate },
    [if $.warmup_steps != null then 'learning_rate_scheduler']: {
      type: 'linear_with_warmup',
      warmup_steps: $.warmup_steps,
    },
    grad_norm: 5.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
})
