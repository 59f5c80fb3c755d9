// Semantic roles on the English Web Treebank, to early stopping. What differs: the page PAPER.
local data = std.extVar('ELMO_TASKS_DATA');

(import '../paper/srl.jsonnet') {
  dataset_reader+: { lookup_files: null, verbs_only: true },  // the treebank also annotates nouns and adjectives
  model+: {
    text_field_embedder+: {
      token_embedders+: {
        tokens: {
          type: 'elmo_tasks_word_vectors',
          pretrained_file: data + '/vectors/w2v.100d.txt.gz',
          embedding_dim: 100,
          trainable: true,
          keep_all_pretrained: true,
        },
      },
    },
  },
  data_loader+: { batches_per_epoch: 65 },
  trainer+: {
    num_epochs: 80,
    patience: 10,
    optimizer: { type: 'adam', lr: 0.001 },
    grad_clipping: null,
    grad_norm: 1.0,
  },
}
