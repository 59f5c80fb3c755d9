// A toy on the synthetic corpus, to see that everything works: perplexity about 60 after a minute.
local corpus = (import 'fixtures.libsonnet') + '/miniworld';

(import 'paper/bilm.jsonnet') {
  train_data_path: corpus + '/lm/train.*.txt*',
  validation_data_path: corpus + '/lm/heldout.*.txt*',
  vocabulary: { type: 'elmo_tasks_words', files: $.train_data_path, min_count: 2 },
  model+: {
    options+: {
      lstm+: { dim: 128, projection_dim: 32 },
      char_cnn+: { filters: [[1, 16], [2, 16], [3, 32], [4, 32]], n_highway: 1 },
    },
    negatives: null,
    dropout: 0.0,
    loss_scale: 1.0,
  },
  data_loader+: { batch_size: 32, steps_per_epoch: 150 },
  validation_data_loader+: { max_tokens: 20000 },
  trainer+: {
    num_epochs: 4,
    optimizer: { type: 'adam', lr: 5e-3 },
    learning_rate_scheduler: { type: 'linear_with_warmup', warmup_steps: 50 },
    grad_norm: 1.0,
    checkpointer+: { save_every_num_batches: null },
  },
}
