// expected: model.text_field_embedder.token_embedders.token_characters.encoder: expected a training step, got RuntimeError: Given groups=1, weight of size [32, 8, 3]
(import '../../../training_config/ner.jsonnet') {
  model+: {
    text_field_embedder+: { token_embedders+: { token_characters+: { encoder+: { embedding_dim: 8 } } } },
  },
}
