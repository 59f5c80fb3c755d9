// expected: model.text_field_embedder.token_embedders.token_characters.encoder.embedding_dim: wanted 16, the width of model.text_field_embedder.token_embedders.token_characters.embedding.embedding_dim, found 8
(import '../../../training_config/ner.jsonnet') {
  model+: {
    text_field_embedder+: { token_embedders+: { token_characters+: { encoder+: { embedding_dim: 8 } } } },
  },
}
