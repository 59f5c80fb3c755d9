// Semantic roles without ELMo: appendix A.5, He et al. (2017); CoNLL-2012. Departures: the page PAPER.
// Expected F1: 81.4 (test), 81.6 (dev). Some days on a GPU.
// Command: elmo-tasks train training_config/paper/srl.jsonnet -s out/srl
local data = std.extVar('ELMO_TASKS_DATA');
local vectors = data + '/vectors/glove.6B.100d.txt';

{
  type: 'elmo_tasks',
  include_in_archive: ['model.json', 'model_files'],  // which biLM: for `allennlp train`
  dataset_reader: { type: 'elmo_tasks_srl', lookup_files: [vectors], verbs_only: false },
  train_data_path: data + '/srl/train',
  validation_data_path: data + '/srl/development',
  model: {
    type: 'elmo_tasks_srl',
    text_field_embedder: {
      token_embedders: {
        tokens: {
          type: 'elmo_tasks_word_vectors',
          pretrained_file: vectors,
          lookup_file: vectors,
          embedding_dim: 100,
          trainable: true,
          unknown: 'random',
        },
        predicate: { type: 'embedding', num_embeddings: 3, embedding_dim: 100, padding_index: 0 },
      },
    },
    word_vectors: true,
    sum_token_losses: false,
    encoder: {
      type: 'elmo_tasks_highway_lstm',
      hidden_size: 300,
      num_layers: 8,
      dropout: 0.1,
      dropout_outputs: true,
      precision: null,  // 'bfloat16' is faster on a CPU that has it (the page PERFORMANCE)
    },
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 80, sorting_keys: ['tokens'] },
  },
  validation_data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 80, sorting_keys: ['tokens'], padding_noise: 0 },
  },
  evaluation: { type: 'elmo_tasks_srl' },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: 500,
    patience: 200,
    validation_metric: '+f1',
    optimizer: { type: 'adadelta', lr: 1.0, rho: 0.95, eps: 1e-6 },
    grad_clipping: 1.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
}
