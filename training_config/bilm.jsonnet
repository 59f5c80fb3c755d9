// The bidirectional language model: paper, sections 3.1 and 3.4 (and Jozefowicz et al. 2016).
//
// Departures from the paper
//   paper: one process with 384 rows instead of three with 128. It draws 8,192 negatives for all rows; the authors'
//     three GPUs each draw their own, so that the gradient of the sampled softmax has less noise there. 10 epochs as
//     the authors trained, without early stopping.
//   small: the recipe of the embedded biLM, for two CPU cores: a model of 768/160 units and 30,000 words, products in
//     bfloat16 (slower than float32 on CPUs without AMX), Adam with a linear decay instead of Adagrad (converges sooner
//     on a short budget), loss not multiplied by 20 (Adam does not see the factor), no dropout (no text is read twice).
//   all: shards are read side by side instead of one after the other, because ours differ in domain.
//   mini: a toy on the synthetic corpus, to see that everything works.
//
// Expected held-out perplexity, mean of both directions: paper 39.7; small: see the card in
//   fixtures/bilm/ (of data_loader.seed 13); mini about 60, on the synthetic corpus.
// Command: ELMO_TASKS_SCALE=small ELMO_TASKS_DATA=/corpora \
//   allennlp train training_config/bilm.jsonnet -s out/bilm      (--recover resumes it)
//   allennlp bilm export out/bilm out/exported
//   Several GPUs: -o '{"distributed": {"cuda_devices": [0, 1, 2]}}'; they share the `rows` of a batch.
//   A smaller one: a file with (import 'bilm.jsonnet') { num_epochs:: 2, steps_per_epoch:: 100, rows:: 16 }, or any
//   other of the hidden fields below.
// Time: mini a minute, small two hours on one CPU core, paper two weeks on three GPUs of 2017.
local hidden_fields = import 'lib/hidden_fields.libsonnet';
local settings = import 'lib/settings.libsonnet';

local sizes(filters, highways, dim, projection_dim) = {
  lstm: {
    dim: dim,
    projection_dim: projection_dim,
    n_layers: 2,
    cell_clip: 3,
    proj_clip: 3,
    use_skip_connections: true,
  },
  char_cnn: {
    activation: 'relu',
    embedding: { dim: 16 },
    filters: filters,
    n_highway: highways,
    n_characters: 262,
    max_characters_per_token: 50,
  },
};

hidden_fields.checked({
  train_files:: settings.file('lm/train.*.txt*'),
  heldout_files:: settings.file('lm/heldout.*.txt*'),

  options:: settings.choose({
    mini: sizes([[1, 16], [2, 16], [3, 32], [4, 32]], 1, 128, 32),
    small: sizes([[1, 32], [2, 32], [3, 64], [4, 128], [5, 128], [6, 128]], 1, 768, 160),
    paper: sizes([[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]], 2, 4096, 512),
  }),
  // At `paper` the authors' list of 793,471 words.
  words:: settings.choose({
    mini: { files: $.train_files, min_count: 2 },
    small: { files: $.train_files, size: 30000 },
    paper: { file: settings.file('lm/vocab-2016-09-10.txt') },
  }),
  negatives:: settings.choose({ mini: null, small: 4096, paper: 8192 }),
  dropout:: settings.choose({ mini: 0.0, small: 0.0, paper: 0.1 }),
  precision:: settings.choose({ mini: 'float32', small: 'bfloat16', paper: 'float32' }),

  // Rows of a batch and tokens of a row, per direction.
  rows:: settings.choose({ mini: 32, small: 128, paper: 384 }),
  unroll:: 20,

  // A training is num_epochs x steps_per_epoch steps; each epoch ends with a validation.
  // `paper`: int(768648884 / 7680) steps, as the authors count an epoch.
  num_epochs:: settings.choose({ mini: 4, small: 12, paper: 10 }),
  steps_per_epoch:: settings.choose({ mini: 150, small: 500, paper: 100084 }),
  // Between two checkpoints within an epoch; each epoch ends with one, too.
  checkpoint_steps:: settings.choose({ mini: null, small: null, paper: 1250 }),
  validation_tokens:: settings.choose({ mini: 20000, small: 60000, paper: 500000 }),

  optimizer:: settings.choose({
    mini: { type: 'adam', lr: 5e-3 },
    small: { type: 'adam', lr: 2e-3, betas: [0.9, 0.99] },
    paper: { type: 'adagrad', lr: 0.2, initial_accumulator_value: 1.0, eps: 1e-16 },
  }),
  warmup_steps:: settings.choose({ mini: 50, small: 300, paper: null }),
  loss_scale:: settings.choose({ mini: 1.0, small: 1.0, paper: 20.0 }),
  gradient_norm:: settings.choose({ mini: 1.0, small: 1.0, paper: 10.0 }),

  dataset_reader: { type: 'elmo_tasks_lm' },
  train_data_path: $.train_files,
  validation_data_path: $.heldout_files,
  vocabulary: { type: 'elmo_tasks_words' } + $.words,
  model: {
    type: 'elmo_tasks_bilm',
    options: $.options,
    negatives: $.negatives,
    dropout: $.dropout,
    precision: $.precision,
    loss_scale: $.loss_scale,
  },
  data_loader: {
    type: 'elmo_tasks_lm',
    batch_size: $.rows,
    unroll: $.unroll,
    steps_per_epoch: $.steps_per_epoch,
    shuffle: true,
  },
  validation_data_loader: {
    type: 'elmo_tasks_lm',
    batch_size: $.rows,
    unroll: $.unroll,
    shuffle: false,
    max_tokens: $.validation_tokens,
  },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: $.num_epochs,
    validation_metric: '-perplexity',
    optimizer: $.optimizer,
    [if $.warmup_steps != null then 'learning_rate_scheduler']: {
      type: 'linear_with_warmup',
      warmup_steps: $.warmup_steps,
    },
    grad_norm: $.gradient_norm,
    checkpointer: {
      keep_most_recent_by_count: 2,
      save_every_num_batches: $.checkpoint_steps,
    },
    callbacks: [{ type: 'elmo_tasks_lm_progress', every: 50 }],
    run_confidence_checks: false,
  },
})
