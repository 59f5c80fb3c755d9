// What the tables under `ablations/` share: for each task its two configs, its score, its splits, and rough times.
//
// A table is an object for `allennlp ablate`: `title`, `about`, `rows`, `figure: 'share'` for scores over `fraction`,
// and `increase`:
// { of, over }, a column and the one over which its increase is shown, or { over } for the increases of all others. A
// row has
//   name     its own in the table; names the folders of its runs
//   config   the base, a path from the table's folder, else from the current folder or from the project's
//   changes  dotted keys of the resolved config and their values in this row
//   row_label, column   where its score stands in the table
//   metric   which score; `f1`, `accuracy` and `em` are shown in percent
//   split    `dev`, the validation data of the config, or `test` with the `file` that is scored
//   paper    the paper's number: a number, { mean, deviation }, or { says: 'words' }; `paper_split`: what it is of
//   fraction of the training data, for `figure`
//   needs    files without which the row is shown as missing
//   minutes  of one run on one CPU core, for the estimates; null where nobody has measured it
// and where it is no plain training `finetune`, `ensemble`, or `bilm_of` (see finetuning.jsonnet, ensembles.jsonnet).
local settings = import 'settings.libsonnet';

// Minutes without and with ELMo, the layers cached.
local minutes(mini, small) = settings.choose({ mini: mini, small: small, paper: [null, null] });

local tasks = {
  squad: {
    row_label: 'SQuAD',
    metric: 'f1',
    minutes: minutes([2.7, 3.3], [27, 35]),
    // The test set is not public: dev is scored in its place.
    test: null,
  },
  snli: {
    row_label: 'SNLI',
    metric: 'accuracy',
    minutes: minutes([1.2, 3], [9, 12]),
    test: settings.file('snli/snli_1.0_test.jsonl'),
  },
  srl: {
    row_label: 'SRL',
    metric: 'f1',
    minutes: minutes([1, 1.2], [36, 42]),
    test: settings.file('srl/test'),
  },
  coref: {
    row_label: 'Coref',
    metric: 'f1',
    minutes: minutes([2, 2.5], [32, 32]),
    test: settings.file('coref/test.gold_conll'),
  },
  ner: {
    row_label: 'NER',
    metric: 'f1',
    minutes: minutes([0.7, 2], [3.5, 8]),
    test: settings.file('ner/eng.testb'),
  },
  sst: {
    row_label: 'SST-5',
    metric: 'accuracy',
    minutes: minutes([0.7, 1.2], [9, 15]),
    test: settings.file('sst/test.txt'),
  },
};

local configs = {
  squad: import '../squad.jsonnet',
  snli: import '../snli.jsonnet',
  srl: import '../srl.jsonnet',
  coref: import '../coref.jsonnet',
  ner: import '../ner.jsonnet',
  sst: import '../sst.jsonnet',
};

// Also for a table elsewhere that imports one of ours.
local configs_folder = std.strReplace(std.thisFile, 'ablation.libsonnet', '../');

// The fields whose text the biLM of a task is tuned on at `paper` (A.1): the paper's numbers for these tasks are those of
// a tuned biLM.
local tuned_fields = if settings.scale == 'paper' then { squad: ['passage'], snli: ['premise', 'hypothesis'] } else {};

// How long a config trains at most.
local cap(config) =
  '%d epochs' % config.trainer.num_epochs
  + (if std.objectHas(config.data_loader, 'batches_per_epoch')
     then ' of %d batches' % config.data_loader.batches_per_epoch
     else '');

{
  tasks: tasks,

  // A row of a task: its baseline, or its model with ELMo.
  local row(task, elmo) = {
    config: configs_folder + task + (if elmo then '_elmo' else '') + '.jsonnet',
    row_label: tasks[task].row_label,
    metric: tasks[task].metric,
    minutes: tasks[task].minutes[if elmo then 1 else 0],
    split: 'dev',
    changes: {},
  },
  baseline(task):: row(task, false) { name: task + '-baseline', column: 'baseline' },
  // At `paper`, SQuAD and SNLI need the rows of `tuning`, too.
  elmo(task, column='ELMo'):: $.untuned(task, column) + {
    [if std.objectHas(tuned_fields, task) then 'bilm_of']: task + '-lm',
  },
  untuned(task, column):: row(task, true) { name: task + '-elmo', column: column },

  // Scored on the test data at `paper`, where the task has public ones, and on dev at the other scales.
  scored_on_test(task):: {
    paper_split: 'test',
    [if settings.scale == 'paper' && tasks[task].test != null then 'split']: 'test',
    [if settings.scale == 'paper' && tasks[task].test != null then 'file']: tasks[task].test,
  },

  // The biLM, tuned on these fields of a task's training data. A row with `bilm_of: NAME` uses it.
  tuned_bilm(name, task, fields):: {
    local config = (import '../bilm_finetune.jsonnet') { task:: task, fields:: fields },
    name: name,
    row_label: tasks[task].row_label,
    config: '../bilm_finetune.jsonnet',
    finetune: true,
    changes: { [key]: config[key] for key in ['dataset_reader', 'train_data_path', 'validation_data_path'] },
    minutes: settings.choose({ mini: 2, small: 15, paper: null }),
  },

  // The rows that tune the biLM for those of these tasks that need it.
  tuning(tasks):: [
    $.tuned_bilm(task + '-lm', task, tuned_fields[task]) {
      row_label: super.row_label + ', biLM',
      column: 'perplexity',
      metric: 'perplexity',
    }
    for task in tasks
    if std.objectHas(tuned_fields, task)
  ],

  // All layers with the weights' penalty lambda.
  weighted(lambda):: { 'model.elmo.mix': 'weighted', 'model.elmo.l2': lambda },
  // One layer has no weights to penalise; at `paper` it is not normalized, as in the authors' code.
  only(mix):: {
    'model.elmo.mix': mix,
    'model.elmo.l2': null,
    [if settings.scale == 'paper' then 'model.elmo.layer_norm']: false,
  },

  // The scale in words, for the table's header.
  caps: settings.choose({
    mini: 'Scale mini: the synthetic corpus, small models, both rows of a pair with the same cap in epochs.',
    small: 'Scale small: small real data and the embedded biLM. Both rows of a pair have the same cap in updates ('
           + std.join(', ', [tasks[task].row_label + ' ' + cap(configs[task]) for task in std.objectFields(tasks)])
           + '): no run is said to have converged.',
    paper: 'Scale paper: the data, the biLM and the hyper-parameters of the paper.',
  }),
}
