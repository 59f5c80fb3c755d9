// SQuAD on 8,149 questions, to early stopping. What differs and why: the page PAPER.
local data = std.extVar('ELMO_TASKS_DATA');

(import '../paper/squad.jsonnet') {
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
      },
    },
    // Equal words attend to each other from the first update.
    initializer: { regexes: [['^attention.similarity.product', { type: 'uniform', a: 0.0, b: 0.4 }]] },
  },
  data_loader+: { batch_sampler+: { batch_size: 30 } },
  trainer+: { num_epochs: 30, patience: 5, optimizer+: { eps: 1e-6 }, moving_average+: { decay: 0.99 } },
}
