// Coreference without ELMo: appendix A.6, Lee et al. (2017); CoNLL-2012. Departures: the page PAPER.
// Expected average F1 of MUC, B-cubed and CEAF-e: 67.2 (test). Two days on a GPU.
// Command: elmo-tasks train training_config/paper/coref.jsonnet -s out/coref
local data = std.extVar('ELMO_TASKS_DATA');
local glove = data + '/vectors/glove.840B.300d.txt';
local turian = data + '/vectors/turian.50d.txt';

local vectors(file, dim) = {
  type: 'elmo_tasks_word_vectors',
  pretrained_file: file,
  lookup_file: file,
  embedding_dim: dim,
  trainable: false,
  unknown: 'zero',
  normalize: true,
};

{
  type: 'elmo_tasks',
  include_in_archive: ['model.json', 'model_files'],  // which biLM: for `allennlp train`
  dataset_reader: { type: 'elmo_tasks_coref', lookup_files: [glove, turian] },
  train_data_path: data + '/coref/train.gold_conll',
  validation_data_path: data + '/coref/dev.gold_conll',
  model: {
    type: 'elmo_tasks_coref',
    text_field_embedder: {
      token_embedders: {
        tokens: {
          type: 'elmo_tasks_concatenated_vectors',
          parts: [vectors(glove, 300), vectors(turian, 50)],
        },
        token_characters: {
          type: 'character_encoding',
          embedding: { embedding_dim: 8, vocab_namespace: 'token_characters' },
          encoder: { type: 'elmo_tasks_character_cnns', embedding_dim: 8, num_filters: 50, widths: [3, 4, 5] },
        },
      },
    },
    word_vectors: true,
    encoder: { type: 'elmo_tasks_coupled_lstm', hidden_size: 200, dropout: 0.2, orthonormal_input: false },
    input_dropout: 0.5,
    output_dropout: 0.2,
    variational_dropout: false,
    hidden_size: 150,
    feature_size: 20,
    dropout: 0.2,
    max_span_width: 10,
    spans_per_word: 0.4,
    max_antecedents: 250,
    max_training_sentences: 50,
    head_values: 'embeddings',
  },
  data_loader: { batch_size: 1, shuffle: true },
  validation_data_loader: { batch_size: 1, shuffle: false },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: 150,
    patience: 20,
    validation_metric: '+f1',
    optimizer: { type: 'adam', lr: 1e-3 },
    learning_rate_scheduler: { type: 'elmo_tasks_staircase', factor: 0.999, every: 100 },
    grad_norm: 5.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
  evaluation: { type: 'elmo_tasks_coref' },
}
