// SNLI on the synthetic corpus (600 pairs): 64 units, 20 epochs. Why it differs: the page PAPER.
local corpus = (import 'fixtures.libsonnet') + '/miniworld';

(import 'paper/snli.jsonnet') {
  dataset_reader+: { lookup_files: null, tokenization: 'sentence' },
  train_data_path: corpus + '/snli/snli_1.0_train.jsonl',
  validation_data_path: corpus + '/snli/snli_1.0_dev.jsonl',
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
      },
    },
    encoder+: { hidden_sizes: [64], dropout: 0.2 },
    composition+: { hidden_sizes: [64], dropout: 0.2 },
    hidden_size: 64,
    dropout: 0.2,
    attention_dropout: 0.2,
    weight_l2: 1e-6,
  },
  trainer+: {
    num_epochs: 20,
    patience: null,
    optimizer+: { lr: 2e-3 },
    learning_rate_scheduler: null,
  },
}
