// Sentiment on the synthetic corpus (200 sentences): a smaller model, 18 epochs. Why it differs: the page PAPER.
local corpus = (import 'fixtures.libsonnet') + '/miniworld';

(import 'paper/sst.jsonnet') {
  dataset_reader+: { lookup_files: null, min_phrase_length: 2 },
  validation_dataset_reader+: { lookup_files: null },
  train_data_path: corpus + '/sst/train.txt',
  validation_data_path: corpus + '/sst/dev.txt',
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
    encoder+: { feedforward_size: 100, feedforward_dropout: 0.1, hidden_sizes: [100] },
    integrator+: { hidden_sizes: [100] },
    head+: { hidden_sizes: [200, 100], dropout: [0.1, 0.1] },
    input_dropout: 0.0,
    variational_dropout: true,
  },
  data_loader+: { batch_sampler+: { batch_size: 32 } },
  trainer+: {
    num_epochs: 18,
    patience: null,
    optimizer+: { lr: 1e-3 },
    learning_rate_scheduler: { type: 'linear_with_warmup', warmup_steps: 20 },
  },
}
