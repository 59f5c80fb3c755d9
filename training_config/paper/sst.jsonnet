// Sentiment without ELMo: appendix A.8, McCann et al. (2017); SST, five classes. Departures: the page PAPER.
// Expected accuracy: 51.4 (test). An hour on a GPU.
// Command: elmo-tasks train training_config/paper/sst.jsonnet -s out/sst
local data = std.extVar('ELMO_TASKS_DATA');
local vectors = data + '/vectors/glove.840B.300d.txt';

{
  type: 'elmo_tasks',
  include_in_archive: ['model.json', 'model_files'],  // which biLM: for `allennlp train`
  dataset_reader: { type: 'elmo_tasks_sst', lookup_files: [vectors], min_phrase_length: 4 },
  validation_dataset_reader: { type: 'elmo_tasks_sst', lookup_files: [vectors] },
  train_data_path: data + '/sst/train.txt',
  validation_data_path: data + '/sst/dev.txt',
  model: {
    type: 'elmo_tasks_sst',
    text_field_embedder: {
      token_embedders: {
        tokens: {
          type: 'elmo_tasks_word_vectors',
          pretrained_file: vectors,
          lookup_file: vectors,
          embedding_dim: 300,
          trainable: false,
          unknown: 'zero',
        },
      },
    },
    word_vectors: true,
    encoder: {
      type: 'elmo_tasks_feedforward_lstm',
      feedforward_size: 300,
      feedforward_dropout: 0.25,
      hidden_sizes: [300],
    },
    integrator: { type: 'elmo_tasks_stacked_lstm', hidden_sizes: [300] },
    head: { type: 'elmo_tasks_relu', hidden_sizes: [1200, 600], dropout: [0.2, 0.2] },
    input_dropout: 0.25,
    variational_dropout: false,
    pooled_dropout: 0.1,
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 100, sorting_keys: ['tokens'] },
  },
  validation_data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 64, sorting_keys: ['tokens'], padding_noise: 0 },
  },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: 40,
    patience: 5,
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: 1e-4 },
    grad_norm: 5.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
}
