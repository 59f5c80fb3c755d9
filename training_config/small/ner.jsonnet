// Named entities on W-NUT 17, 3,394 sentences, to early stopping. What differs: the page PAPER.
local data = std.extVar('ELMO_TASKS_DATA');

(import '../paper/ner.jsonnet') {
  dataset_reader+: { lookup_files: null },
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
  data_loader+: { batch_sampler+: { batch_size: 32 } },
  trainer+: { num_epochs: 60, patience: 5 },
}
