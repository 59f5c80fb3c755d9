// Fine-tuning of the biLM on a task's text: paper, section 3.4, appendix A.1 and Table 7. Labels are left aside; the
// task's reader gives the sentences; one epoch on the training data. Before and after it the perplexity on the
// validation data is measured (`perplexities.json`), and the tuned biLM is exported (`exported/`, for a task's
// `model.elmo`).
//
// Departures from the paper, which gives one epoch and nothing else
//   all: Adam with a small learning rate that rises over the first tenth and falls to 0, gradients clipped at norm 1,
//     instead of continuing with Adagrad (see `accumulators`): this avoids divergence on a small corpus. A text that
//     neighbours share (a passage with its questions, a premise with its hypotheses) counts once.
//   A biLM without `vocabulary.txt` and `softmax.hdf5` gets a new softmax, and its perplexity before is not known: set
//     `words` to the vocabulary, as for any other vocabulary than the biLM's. A new softmax is trained alone in the first
//     `softmax_epochs`, before the epoch of all weights: one with the released biLM at paper, unless its softmax has
//     been imported.
//
// Expected perplexity before and after: paper 72.1 and 16.8 on SNLI, more in ablations/finetuning.jsonnet; mini and
//   small: docs/RESULTS.md.
// Command: allennlp train training_config/bilm_finetune.jsonnet -s out/tuned
//   Another task, another biLM: a file with (import 'bilm_finetune.jsonnet') { task:: 'ner', fields:: ['tokens'],
//   bilm:: 'out/bilm' }. Fields: snli premise, hypothesis; squad passage, question; coref text; ner, srl, sst tokens.
//   allennlp train training_config/snli_elmo.jsonnet -s out/snli -o '{"model.elmo.options_file":
//   "out/tuned/exported/options.json", "model.elmo.weight_file": "out/tuned/exported/weights.hdf5"}'
// Time: mini two minutes, small a quarter of an hour on one CPU core; paper an hour on a GPU.
local hidden_fields = import 'lib/hidden_fields.libsonnet';
local settings = import 'lib/settings.libsonnet';
local configs = {
  coref: import 'coref.jsonnet',
  ner: import 'ner.jsonnet',
  snli: import 'snli.jsonnet',
  squad: import 'squad.jsonnet',
  srl: import 'srl.jsonnet',
  sst: import 'sst.jsonnet',
};

hidden_fields.checked({
  task:: 'snli',
  fields:: ['premise', 'hypothesis'],
  // A run's folder or archive, an exported folder, or { options_file, weight_file }.
  bilm:: if settings.has_softmax then settings.bilm_folder else settings.bilm,
  // The softmax has these words: { file } for a list, or { files, reader, min_count } to count the task's own.
  words:: { file: settings.bilm_vocabulary },

  rows:: settings.choose({ mini: 8, small: 16, paper: 128 }),
  unroll:: 20,
  num_epochs:: 1,
  softmax_epochs:: if settings.has_softmax then 0 else 1,
  negatives:: settings.choose({ mini: null, small: null, paper: 8192 }),
  dropout:: 0.1,
  // { type: 'adagrad', lr: 0.2 } with accumulators:: 'bilm/adagrad' continues the training of an imported checkpoint.
  optimizer:: { type: 'adam', lr: $.learning_rate, betas: [0.9, 0.99] },
  accumulators:: null,
  learning_rate:: settings.choose({ mini: 5e-4, small: 5e-4, paper: 1e-4 }),

  local config = if std.objectHas(configs, $.task) then configs[$.task]
  else error 'task: expected one of %s, got %s' % [std.join(', ', std.objectFields(configs)), $.task],
  dataset_reader: {
    type: 'elmo_tasks_task_text',
    reader: if std.objectHas(config, 'validation_dataset_reader') then config.validation_dataset_reader
    else config.dataset_reader,
    fields: $.fields,
  },
  train_data_path: config.train_data_path,
  validation_data_path: config.validation_data_path,
  vocabulary: { type: 'elmo_tasks_words' } + $.words,
  model: {
    type: 'elmo_tasks_tuned_bilm',
    bilm: $.bilm,
    negatives: $.negatives,
    dropout: $.dropout,
  },
  data_loader: {
    type: 'elmo_tasks_lm',
    batch_size: $.rows,
    unroll: $.unroll,
    seed: 13,
    shuffle: true,
  },
  validation_data_loader: { type: 'elmo_tasks_lm', batch_size: 32, unroll: $.unroll, shuffle: false },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: $.softmax_epochs + $.num_epochs,
    validation_metric: '-perplexity',
    optimizer: $.optimizer,
    learning_rate_scheduler: { type: 'slanted_triangular', cut_frac: 0.1, ratio: 32 },
    grad_norm: 1.0,
    checkpointer: { keep_most_recent_by_count: 1 },
    callbacks: [
      { type: 'elmo_tasks_lm_progress', every: 50 },
      { type: 'elmo_tasks_tuning', softmax_epochs: $.softmax_epochs, accumulators: $.accumulators },
    ],
    run_confidence_checks: false,
  },
  include_in_archive: ['options.json'],
})
