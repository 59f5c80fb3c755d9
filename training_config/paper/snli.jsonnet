// SNLI without ELMo: appendix A.3, the sequence model of Chen et al. (2017). Departures: the page PAPER.
// Expected accuracy: 88.0 (test), 88.1 (dev). Some hours on a GPU.
// Command: elmo-tasks train training_config/paper/snli.jsonnet -s out/snli
local data = std.extVar('ELMO_TASKS_DATA');
local vectors = data + '/vectors/glove.840B.300d.txt';

{
  type: 'elmo_tasks',
  include_in_archive: ['model.json', 'model_files'],  // which biLM: for `allennlp train`
  // `parse`: the leaves of `sentence1_binary_parse`; `sentence`: words by spaCy's rules.
  dataset_reader: { type: 'elmo_tasks_snli', lookup_files: [vectors], tokenization: 'parse' },
  train_data_path: data + '/snli/snli_1.0_train.jsonl',
  validation_data_path: data + '/snli/snli_1.0_dev.jsonl',
  model: {
    type: 'elmo_tasks_snli',
    text_field_embedder: {
      token_embedders: {
        tokens: {
          type: 'elmo_tasks_word_vectors',
          pretrained_file: vectors,
          lookup_file: vectors,
          embedding_dim: 300,
          trainable: false,
          unknown: 'random',
        },
      },
    },
    word_vectors: true,
    encoder: { type: 'elmo_tasks_stacked_lstm', hidden_sizes: [300], dropout: 0.5 },
    composition: { type: 'elmo_tasks_stacked_lstm', hidden_sizes: [300], dropout: 0.5 },
    hidden_size: 300,
    dropout: 0.5,
    // These two work with ELMo only.
    attention_dropout: 0.5,
    weight_l2: 1e-4,
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: 32, sorting_keys: ['premise', 'hypothesis'] },
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
    num_epochs: 75,
    patience: 5,
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: 4e-4 },
    learning_rate_scheduler: { type: 'reduce_on_plateau', mode: 'max', factor: 0.5, patience: 0 },
    grad_norm: 5.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
}
