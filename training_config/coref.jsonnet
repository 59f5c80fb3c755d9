// Coreference on the synthetic corpus (160 stories): spans of 4 words, 20 epochs. Why it differs: the page PAPER.
local corpus = (import 'fixtures.libsonnet') + '/miniworld';

(import 'paper/coref.jsonnet') {
  dataset_reader+: { lookup_files: null },
  train_data_path: corpus + '/coref/train.gold_conll',
  validation_data_path: corpus + '/coref/dev.gold_conll',
  model+: {
    text_field_embedder+: {
      token_embedders+: {
        tokens: {
          type: 'elmo_tasks_word_vectors',
          pretrained_file: corpus + '/vectors/w2v.100d.txt.gz',
          embedding_dim: 100,
          trainable: false,
          keep_all_pretrained: true,
        },
        token_characters+: {
          encoder: { type: 'cnn', embedding_dim: 8, num_filters: 10, ngram_filter_sizes: [3, 4, 5] },
        },
      },
    },
    encoder+: { hidden_size: 60, orthonormal_input: true },
    input_dropout: 0.3,
    hidden_size: 50,
    max_span_width: 4,
    max_antecedents: 50,
  },
  trainer+: {
    num_epochs: 20,
    patience: null,
    optimizer+: { lr: 2e-3 },
    learning_rate_scheduler: { type: 'linear_with_warmup', warmup_steps: 50 },
  },
}
