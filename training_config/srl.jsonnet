// Semantic roles on the synthetic corpus (500 sentences): four layers of 100 units, 25 epochs. Why: the page PAPER.
local corpus = (import 'fixtures.libsonnet') + '/miniworld';

(import 'paper/srl.jsonnet') {
  dataset_reader+: { lookup_files: null, verbs_only: true },  // the corpus also annotates nouns and adjectives
  train_data_path: corpus + '/srl/train',
  validation_data_path: corpus + '/srl/development',
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
      },
    },
    encoder+: { hidden_size: 100, num_layers: 4, dropout: 0.2 },
  },
  data_loader+: { batch_sampler+: { batch_size: 16 } },
  trainer+: {
    num_epochs: 25,
    patience: null,
    optimizer: { type: 'adam', lr: 2e-3 },
    learning_rate_scheduler: { type: 'linear_with_warmup', warmup_steps: 50 },
  },
}
