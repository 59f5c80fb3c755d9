// Fine-tuning of the biLM on a task's text, here SNLI's: section 3.4, appendix A.1, Table 7. Departures: the page PAPER.
// Expected perplexity before and after: 72.1 and 16.8. An hour on a GPU. Other tasks, other biLMs: the page PRETRAIN.
// Command: elmo-tasks train training_config/paper/bilm_finetune.jsonnet -s out/tuned
//   writes out/tuned/perplexities.json, and out/tuned/exported for a task's `model.elmo`.
local data = std.extVar('ELMO_TASKS_DATA');

{
  type: 'elmo_tasks',
  dataset_reader: {
    type: 'elmo_tasks_task_text',
    reader: { type: 'elmo_tasks_snli', tokenization: 'parse' },
    fields: ['premise', 'hypothesis'],
  },
  train_data_path: data + '/snli/snli_1.0_train.jsonl',
  validation_data_path: data + '/snli/snli_1.0_dev.jsonl',
  // The words of the softmax: those of a list, or counted in `files`.
  vocabulary: { type: 'elmo_tasks_words', file: data + '/lm/vocab-2016-09-10.txt' },
  model: {
    type: 'elmo_tasks_tuned_bilm',
    // A run's folder, an exported folder, or { options_file, weight_file } of one without its softmax.
    bilm: data + '/bilm',
    negatives: 8192,
    dropout: 0.1,
  },
  data_loader: { type: 'elmo_tasks_lm', batch_size: 128, unroll: 20, seed: 13, shuffle: true },
  validation_data_loader: { type: 'elmo_tasks_lm', batch_size: 32, unroll: 20, shuffle: false },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: 2,  // `softmax_epochs` of the new softmax alone, then one of all weights
    validation_metric: '-perplexity',
    optimizer: { type: 'adam', lr: 1e-4, betas: [0.9, 0.99] },
    learning_rate_scheduler: { type: 'slanted_triangular', cut_frac: 0.1, ratio: 32 },
    grad_norm: 1.0,
    checkpointer: { keep_most_recent_by_count: 1 },
    callbacks: [
      { type: 'elmo_tasks_lm_progress' },
      { type: 'elmo_tasks_tuning', softmax_epochs: 1 },
    ],
    run_confidence_checks: false,
  },
  include_in_archive: ['options.json'],
}
