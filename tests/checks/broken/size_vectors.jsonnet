// expected: model.text_field_embedder.token_embedders.tokens: wanted something that can be built, found $DATA/vectors/w2v.100d.txt.gz:1: a word and 50 numbers were wanted, found 100 numbers (set embedding_dim of the word vectors to the file's width, or give another file)
(import '../../../training_config/ner.jsonnet') {
  model+: { text_field_embedder+: { token_embedders+: { tokens+: { embedding_dim: 50 } } } },
}
