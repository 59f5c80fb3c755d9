// SNLI on 13,100 pairs, to early stopping. What differs and why: the page PAPER.
local data = std.extVar('ELMO_TASKS_DATA');

(import '../paper/snli.jsonnet') {
  dataset_reader+: { lookup_files: null, tokenization: 'sentence' },
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
      },
    },
    encoder+: { dropout: 0.2 },
    composition+: { dropout: 0.2 },
    dropout: 0.2,
    attention_dropout: 0.0,
    weight_l2: 1e-6,
  },
  trainer+: {
    num_epochs: 20,
    optimizer+: { lr: 1e-3 },
  },
}
