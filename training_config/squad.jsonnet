// Question answering without ELMo: paper, appendix A.4 (bidirectional attention and self-attention; SQuAD v1.1).
//
// Departures from the paper, which gives the outline of the model and leaves the rest to Clark and Gardner (2017)
//   all: one width for both rows, 90 units as in the paper (40 at mini); the public code of its baseline has 100.
//     Words are split by spaCy's rules and at the marks where Clark and Gardner split, but contractions stay whole (`n't`,
//     `'s`, which have vectors; there `n ' t` and `' s`); a word without a vector has the
//     mean of all at mini and small, and zeros at paper, as there. Words of other texts are looked up in the vectors'
//     file when they are evaluated, as there. The epoch that counts is the best one of the averaged weights, which are
//     those in the archive; Clark and Gardner choose by the weights themselves. The last, smaller batch of an epoch is
//     kept.
//   what the paper leaves open is theirs: characters, where dropout stands, chained GRUs for start and end, starting
//     values of all weights but the characters' (Glorot-uniform vectors, convolution biases of 0; theirs between -0.05
//     and 0.05, and Glorot-uniform), fixed batches of similar length (their baseline redraws them), no clipping, 24
//     epochs.
//   small and mini: the weights of products in the similarity of passage and question start between 0 and 0.4 instead
//     of with both signs, so that equal words attend to each other from the first update: otherwise the seed decides
//     how soon a run learns this.
//   small: other data (8,149 questions), vectors of 100 dimensions, batches of 30, a cap of 6 epochs (1,632 updates)
//     for both rows: the run ends before it has converged. One that short wants larger steps (epsilon 1e-6) and an
//     average of the last steps only (0.99).
//   mini: the synthetic corpus (2,240 questions), a smaller model, Adam with 2e-3, batches of 10, a cap of 4 epochs
//     (896 updates) for both rows, at which runs still rise.
//
// Expected F1: paper 81.1 (test; 80.8 on dev); small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/squad.jsonnet -s out/squad
//   allennlp evaluate out/squad/model.tar.gz dev-v1.1.json --predictions-output-file predictions.json
//   writes the answers as the official script reads them.
//   Long paragraphs: a file with (import 'squad.jsonnet') { max_tokens:: 9000 } bounds the tokens of a batch.
// Time: mini three minutes, small half an hour on one CPU core; paper a day on a GPU.
local hidden_fields = import 'lib/hidden_fields.libsonnet';
local settings = import 'lib/settings.libsonnet';
local words = import 'lib/words.libsonnet';

hidden_fields.checked({
  train_file:: settings.file('squad/train-v1.1.json'),
  validation_file:: settings.file('squad/dev-v1.1.json'),
  // Of a file; { embedding_dim: 50 } for learned ones, null for none.
  vectors:: settings.choose({
    mini: { pretrained_file: settings.file('vectors/w2v.100d.txt.gz'), embedding_dim: 100 },
    small: self.mini,
    paper: { pretrained_file: settings.file('vectors/glove.840B.300d.txt'), embedding_dim: 300, unknown: 'zero' },
  }),

  characters:: settings.choose({
    mini: { embedding_dim: 20, num_filters: 50, min_count: 1 },
    small: { embedding_dim: 20, num_filters: 100, min_count: 49 },
    paper: self.small,
  }),
  hidden_size:: settings.choose({ mini: 40, small: 90, paper: 90 }),
  dropout:: 0.2,

  batch_size:: settings.choose({ mini: 10, small: 30, paper: 45 }),
  max_tokens:: null,
  optimizer:: settings.choose({
    mini: { type: 'adam', lr: 2e-3 },
    small: { type: 'adadelta', lr: 1.0, rho: 0.95, eps: 1e-6 },
    paper: { type: 'adadelta', lr: 1.0, rho: 0.95, eps: 1e-8 },
  }),
  average_decay:: settings.choose({ mini: 0.98, small: 0.99, paper: 0.999 }),
  num_epochs:: settings.choose({ mini: 4, small: 6, paper: 24 }),

  dataset_reader: { type: 'elmo_tasks_squad' },
  train_data_path: $.train_file,
  validation_data_path: $.validation_file,
  vocabulary: { min_count: { token_characters: $.characters.min_count } },
  model: {
    type: 'elmo_tasks_squad',
    text_field_embedder: {
      token_embedders: words.embedder($.vectors, { trainable: false }) + {
        token_characters: {
          type: 'character_encoding',
          embedding: { embedding_dim: $.characters.embedding_dim, vocab_namespace: 'token_characters' },
          encoder: {
            type: 'elmo_tasks_character_cnn',
            embedding_dim: $.characters.embedding_dim,
            num_filters: $.characters.num_filters,
            width: 5,
            dropout: $.dropout,
          },
        },
      },
    },
    word_vectors: $.vectors != null,
    encoder: { type: 'elmo_tasks_gru', hidden_size: $.hidden_size },
    input_dropout: $.dropout,
    initializer: settings.choose({
      mini: { regexes: [['^attention.similarity.product', { type: 'uniform', a: 0.0, b: 0.4 }]] },
      small: self.mini,
      paper: null,
    }),
    output_dropout: $.dropout,
    dropout: $.dropout,
    max_span_length: 17,
  },
  data_loader: {
    batch_sampler: {
      type: 'elmo_tasks_token_budget',
      batch_size: $.batch_size,
      sorting_key: 'passage',
      max_tokens: $.max_tokens,
    },
  },
  validation_data_loader: { batch_sampler: $.data_loader.batch_sampler { shuffle: false } },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: $.num_epochs,
    validation_metric: '+f1',
    optimizer: $.optimizer,
    moving_average: { type: 'elmo_tasks_exponential', decay: $.average_decay },
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
  evaluation: { type: 'elmo_tasks_squad' },
})
