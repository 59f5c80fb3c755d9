// AllenNLP's own model and reader.
local data = (import '../../../training_config/fixtures.libsonnet') + '/miniworld';

{
  dataset_reader: { type: 'conll2003', tag_label: 'ner' },
  train_data_path: data + '/ner/eng.train',
  validation_data_path: data + '/ner/eng.testa',
  model: {
    type: 'simple_tagger',
    text_field_embedder: { token_embedders: { tokens: { type: 'embedding', embedding_dim: 6 } } },
    encoder: { type: 'lstm', input_size: 6, hidden_size: 4 },
  },
  data_loader: { batch_size: 2 },
  trainer: { optimizer: 'adam', num_epochs: 1, validation_metric: '+accuracy' },
}
