// The biLM: sections 3.1 and 3.4, Jozefowicz et al. (2016); 1 Billion Word Benchmark. Departures: the page PAPER.
// Expected held-out perplexity, mean of both directions: 39.7. Two weeks on three GPUs of 2017.
// Command: elmo-tasks train training_config/paper/bilm.jsonnet -s out/bilm      (--recover resumes it)
//   then elmo-tasks bilm export out/bilm out/exported
//   Several GPUs: -o '{"distributed": {"cuda_devices": [0, 1, 2]}}'; they share the rows (`batch_size`) of a batch.
local data = std.extVar('ELMO_TASKS_DATA');

{
  type: 'elmo_tasks',
  dataset_reader: { type: 'elmo_tasks_lm' },
  train_data_path: data + '/lm/train.*.txt*',
  validation_data_path: data + '/lm/heldout.*.txt*',
  vocabulary: { type: 'elmo_tasks_words', file: data + '/lm/vocab-2016-09-10.txt' },  // 793,471 words
  model: {
    type: 'elmo_tasks_bilm',
    options: {
      lstm: {
        dim: 4096,
        projection_dim: 512,
        n_layers: 2,
        cell_clip: 3,
        proj_clip: 3,
        use_skip_connections: true,
      },
      char_cnn: {
        activation: 'relu',
        embedding: { dim: 16 },
        filters: [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        n_highway: 2,
        n_characters: 262,
        max_characters_per_token: 50,
      },
    },
    negatives: 8192,
    dropout: 0.1,
    precision: 'float32',
    loss_scale: 20.0,
  },
  data_loader: {
    type: 'elmo_tasks_lm',
    batch_size: 384,  // rows, of `unroll` tokens in each direction
    unroll: 20,
    steps_per_epoch: 100084,  // int(768648884 / 7680), as the authors count an epoch
    shuffle: true,
  },
  validation_data_loader: {
    type: 'elmo_tasks_lm',
    batch_size: $.data_loader.batch_size,
    unroll: $.data_loader.unroll,
    shuffle: false,
    max_tokens: 500000,
  },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: 10,
    validation_metric: '-perplexity',
    optimizer: { type: 'adagrad', lr: 0.2, initial_accumulator_value: 1.0, eps: 1e-16 },
    grad_norm: 10.0,
    checkpointer: { keep_most_recent_by_count: 2, save_every_num_batches: 1250 },
    callbacks: [{ type: 'elmo_tasks_lm_progress' }],
    run_confidence_checks: false,
  },
}
