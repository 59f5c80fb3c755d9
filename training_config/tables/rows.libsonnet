// What the tables share: for each task its two configs, its score, its splits, and rough times.
//
// A table is an object for `elmo-tasks ablate`, which sets `scale`: `title`, `about`, `rows`, `figure: 'share'` for scores over `fraction`,
// and `increase`:
// { of, over }, a column and the one over which its increase is shown, or { over } for the increases of all others. A
// row has
//   name     its own in the table; names the folders of its runs
//   config   the base: the name of a config of this scale, or a path from the table's folder or the current one
//   changes  dotted keys of the resolved config and their values in this row
//   row_label, column   where its score stands in the table
//   metric   which score; `f1`, `accuracy` and `em` are shown in percent
//   split    `dev`, the validation data of the config, or `test` with the `file` that is scored
//   paper    the paper's number: a number, { mean, deviation }, or { says: 'words' }; `paper_split`: what it is of
//   fraction of the training data, for `figure`
//   needs    files without which the row is shown as missing
//   minutes  of one run on one CPU core, for the estimates; null where nobody has measured it
// and where it is no plain training `finetune`, `ensemble`, or `bilm_of` (see finetuning.jsonnet, ensembles.jsonnet).
local scale = std.extVar('scale');
local choose(values) = values[scale];
local data =
  if scale == 'mini' then (import '../fixtures.libsonnet') + '/miniworld' else std.extVar('ELMO_TASKS_DATA');

// Minutes without and with ELMo, the layers cached.
local minutes(mini, small) = choose({ mini: mini, small: small, paper: [null, null] });

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
    test: data + '/snli/snli_1.0_test.jsonl',
  },
  srl: {
    row_label: 'SRL',
    metric: 'f1',
    minutes: minutes([1, 1.2], [36, 42]),
    test: data + '/srl/test',
  },
  coref: {
    row_label: 'Coref',
    metric: 'f1',
    minutes: minutes([2, 2.5], [32, 32]),
    test: data + '/coref/test.gold_conll',
  },
  ner: {
    row_label: 'NER',
    metric: 'f1',
    minutes: minutes([0.7, 2], [3.5, 8]),
    test: data + '/ner/eng.testb',
  },
  sst: {
    row_label: 'SST-5',
    metric: 'accuracy',
    minutes: minutes([0.7, 1.2], [9, 15]),
    test: data + '/sst/test.txt',
  },
};

local configs = choose({
  mini: {
    squad: import '../mini/squad.jsonnet',
    snli: import '../mini/snli.jsonnet',
    srl: import '../mini/srl.jsonnet',
    coref: import '../mini/coref.jsonnet',
    ner: import '../mini/ner.jsonnet',
    sst: import '../mini/sst.jsonnet',
  },
  small: {
    squad: import '../small/squad.jsonnet',
    snli: import '../small/snli.jsonnet',
    srl: import '../small/srl.jsonnet',
    coref: import '../small/coref.jsonnet',
    ner: import '../small/ner.jsonnet',
    sst: import '../small/sst.jsonnet',
  },
  paper: {
    squad: import '../paper/squad.jsonnet',
    snli: import '../paper/snli.jsonnet',
    srl: import '../paper/srl.jsonnet',
    coref: import '../paper/coref.jsonnet',
    ner: import '../paper/ner.jsonnet',
    sst: import '../paper/sst.jsonnet',
  },
});

// The fields whose text the biLM of a task is tuned on at `paper` (A.1): the paper's numbers for these tasks are those of
// a tuned biLM.
local tuned_fields = if scale == 'paper' then { squad: ['passage'], snli: ['premise', 'hypothesis'] } else {};

// How long a config trains at most.
local cap(config) =
  '%d epochs' % config.trainer.num_epochs
  + (if std.objectHas(config.data_loader, 'batches_per_epoch')
     then ' of %d batches' % config.data_loader.batches_per_epoch
     else '');

{
  tasks: tasks,
  choose: choose,
  data: data,

  // A row of a task: its baseline, or its model with ELMo.
  local row(task, elmo) = {
    config: task + (if elmo then '_elmo' else ''),
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
    [if scale == 'paper' && tasks[task].test != null then 'split']: 'test',
    [if scale == 'paper' && tasks[task].test != null then 'file']: tasks[task].test,
  },

  // The biLM, tuned on these fields of a task's training data. A row with `bilm_of: NAME` uses it.
  tuned_bilm(name, task, fields):: {
    local config = configs[task],
    name: name,
    row_label: tasks[task].row_label,
    config: 'bilm_finetune',
    finetune: true,
    changes: {
      dataset_reader: {
        type: 'elmo_tasks_task_text',
        reader: std.get(config, 'validation_dataset_reader', config.dataset_reader),
        fields: fields,
      },
      train_data_path: config.train_data_path,
      validation_data_path: config.validation_data_path,
    },
    minutes: choose({ mini: 2, small: 15, paper: null }),
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
    [if scale == 'paper' then 'model.elmo.layer_norm']: false,
  },

  // The scale in words, for the table's header.
  caps: choose({
    mini: 'Scale mini: the synthetic corpus, small models, both rows of a pair with the same cap in epochs.',
    small: 'Scale small: small real data and the embedded biLM. Both rows of a pair have the same cap in updates ('
           + std.join(', ', [tasks[task].row_label + ' ' + cap(configs[task]) for task in std.objectFields(tasks)])
           + '): no run is said to have converged.',
    paper: 'Scale paper: the data, the biLM and the hyper-parameters of the paper.',
  }),
}
