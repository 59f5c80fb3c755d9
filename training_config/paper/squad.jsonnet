// SQuAD without ELMo: appendix A.4, and Clark and Gardner (2017). Departures: the page PAPER.
// Expected F1: 81.1 (test), 80.8 (dev). A day on a GPU.
// Command: elmo-tasks train training_config/paper/squad.jsonnet -s out/squad
local data = std.extVar('ELMO_TASKS_DATA');
local vectors = data + '/vectors/glove.840B.300d.txt';

{
  type: 'elmo_tasks',
  include_in_archive: ['model.json', 'model_files'],  // which biLM: for `allennlp train`
  dataset_reader: { type: 'elmo_tasks_squad', lookup_files: [vectors] },
  train_data_path: data + '/squad/train-v1.1.json',
  validation_data_path: data + '/squad/dev-v1.1.json',
  vocabulary: { min_count: { token_characters: 49 } },
  model: {
    type: 'elmo_tasks_squad',
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
        token_characters: {
          type: 'character_encoding',
          embedding: { embedding_dim: 20, vocab_namespace: 'token_characters' },
          encoder: {
            type: 'elmo_tasks_character_cnn',
            embedding_dim: 20,
            num_filters: 100,
            width: 5,
            dropout: 0.2,
          },
        },
      },
    },
    word_vectors: true,
    encoder: { type: 'elmo_tasks_gru', hidden_size: 90 },
    input_dropout: 0.2,
    output_dropout: 0.2,
    dropout: 0.2,
    initializer: null,
    max_span_length: 17,
  },
  data_loader: {
    batch_sampler: {
      type: 'elmo_tasks_token_budget',
      batch_size: 45,
      max_tokens: null,  // bounds the tokens of a batch, for long paragraphs
      sorting_key: 'passage',
    },
  },
  validation_data_loader: { batch_sampler: $.data_loader.batch_sampler { shuffle: false } },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: 24,
    validation_metric: '+f1',
    optimizer: { type: 'adadelta', lr: 1.0, rho: 0.95, eps: 1e-8 },
    moving_average: { type: 'elmo_tasks_exponential', decay: 0.999 },
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
  evaluation: { type: 'elmo_tasks_squad' },
}
