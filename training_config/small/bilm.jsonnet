// The recipe of the bundled biLM, for two CPU cores; why it differs: the page PAPER. Two hours on one CPU core.
(import '../paper/bilm.jsonnet') {
  vocabulary: { type: 'elmo_tasks_words', files: $.train_data_path, size: 30000 },
  model+: {
    options+: {
      lstm+: { dim: 768, projection_dim: 160 },
      char_cnn+: { filters: [[1, 32], [2, 32], [3, 64], [4, 128], [5, 128], [6, 128]], n_highway: 1 },
    },
    negatives: 4096,
    dropout: 0.0,
    precision: 'bfloat16',
    loss_scale: 1.0,
  },
  data_loader+: { batch_size: 128, steps_per_epoch: 500 },
  validation_data_loader+: { max_tokens: 60000 },
  trainer+: {
    num_epochs: 12,
    optimizer: { type: 'adam', lr: 2e-3, betas: [0.9, 0.99] },
    learning_rate_scheduler: { type: 'linear_with_warmup', warmup_steps: 300 },
    grad_norm: 1.0,
    checkpointer+: { save_every_num_batches: null },
  },
}
