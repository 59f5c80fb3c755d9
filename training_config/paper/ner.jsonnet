// Named entities without ELMo: appendix A.7; CoNLL-2003. Departures: the page PAPER.
// Expected F1: 90.15 (test). An hour on a GPU.
// Command: elmo-tasks train training_config/paper/ner.jsonnet -s out/ner
local data = std.extVar('ELMO_TASKS_DATA');
local vectors = data + '/vectors/glove.6B.50d.txt';

{
  type: 'elmo_tasks',
  include_in_archive: ['model.json', 'model_files'],  // which biLM: for `allennlp train`
  dataset_reader: { type: 'elmo_tasks_ner', lookup_files: [vectors] },
  train_data_path: data + '/ner/eng.train',
  validation_data_path: data + '/ner/eng.testa',
  model: {
    type: 'elmo_tasks_ner',
    text_field_embedder: {
      token_embedders: {
        tokens: {
          type: 'elmo_tasks_word_vectors',
          pretrained_file: vectors,
          lookup_file: vectors,
          embedding_dim: 50,
          trainable: true,
          unknown: 'random',
        },
        token_characters: {
          type: 'character_encoding',
          embedding: { embedding_dim: 16, vocab_namespace: 'token_characters' },
          encoder: { type: 'cnn', embedding_dim: 16, num_filters: 128, ngram_filter_sizes: [3] },
        },
      },
    },
    word_vectors: true,
    encoder: { type: 'elmo_tasks_stacked_lstm', hidden_sizes: [200, 100], dropout: 0.5 },
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 64, sorting_keys: ['tokens'] },
  },
  validation_data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 64, sorting_keys: ['tokens'], padding_noise: 0 },
  },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: 75,
    patience: 25,
    validation_metric: '+f1',
    optimizer: { type: 'adam', lr: 1e-3 },
    grad_norm: 5.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
}
