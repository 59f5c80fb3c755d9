// Named entities on the synthetic corpus (400 sentences): a smaller model, 30 epochs. Why it differs: the page PAPER.
local corpus = (import 'fixtures.libsonnet') + '/miniworld';

(import 'paper/ner.jsonnet') {
  dataset_reader+: { lookup_files: null },
  train_data_path: corpus + '/ner/eng.train',
  validation_data_path: corpus + '/ner/eng.testa',
  model+: {
    text_field_embedder+: {
      token_embedders+: {
        tokens: {
          type: 'elmo_tasks_word_vectors',
          pretrained_file: corpus + '/vectors/w2v.100d.txt.gz',
          embedding_dim: 100,
          trainable: true,
          keep_all_pretrained: true,
        },
        token_characters+: { encoder+: { num_filters: 32 } },
      },
    },
    encoder+: { hidden_sizes: [100, 50] },
  },
  data_loader+: { batch_sampler+: { batch_size: 16 } },
  trainer+: {
    num_epochs: 30,
    patience: null,
    optimizer+: { lr: 2e-3 },
    learning_rate_scheduler: { type: 'linear_with_warmup', warmup_steps: 50 },
  },
}
