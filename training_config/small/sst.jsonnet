// Sentiment with half the units, to early stopping; a pass takes 8 epochs. What differs and why: the page PAPER.
local data = std.extVar('ELMO_TASKS_DATA');

(import '../paper/sst.jsonnet') {
  dataset_reader+: { lookup_files: null },
  validation_dataset_reader+: { lookup_files: null },
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
    encoder+: { feedforward_size: 150, feedforward_dropout: 0.1, hidden_sizes: [150] },
    integrator+: { hidden_sizes: [150] },
    head+: { hidden_sizes: [600, 300] },
    input_dropout: 0.1,
    variational_dropout: true,
  },
  data_loader+: { batch_sampler+: { batch_size: 50 }, batches_per_epoch: 250 },
  trainer+: {
    num_epochs: 30,
    optimizer+: { lr: 1e-3 },
  },
}
