// Coreference on OntoGUM, 177 documents, to early stopping. What differs and why: the page PAPER.
local data = std.extVar('ELMO_TASKS_DATA');

(import '../paper/coref.jsonnet') {
  dataset_reader+: { lookup_files: null },
  model+: {
    text_field_embedder+: {
      token_embedders+: {
        tokens: {
          type: 'elmo_tasks_word_vectors',
          pretrained_file: data + '/vectors/w2v.100d.txt.gz',
          embedding_dim: 100,
          trainable: false,
          keep_all_pretrained: true,
        },
        token_characters+: {
          encoder: { type: 'cnn', embedding_dim: 8, num_filters: 50, ngram_filter_sizes: [3, 4, 5] },
        },
      },
    },
    encoder+: { orthonormal_input: true },
    max_training_sentences: 20,
  },
  trainer+: { num_epochs: 40, patience: 10 },
}
