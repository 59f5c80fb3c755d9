// What the tables share. The tasks are the records in elmo_tasks/tasks, with their configs of this scale.
//
// `elmo-tasks ablate` sets the variables `scale`, `tasks` and `configs`. the page reference-tables lists the keys of a table.
local scale = std.extVar('scale');
local choose(values) = values[scale];
local data =
  if scale == 'mini' then (import '../fixtures.libsonnet') + '/miniworld' else std.extVar('ELMO_TASKS_DATA');

// Every score that the paper prints: by the table or section, the row and the column.
local published = import 'published.json';

local records = std.extVar('tasks');
local configs = std.extVar('configs');  // by the name of the task
local tasks = { [task.name]: task for task in records };
local test_file(task) = if tasks[task].test == null then null else data + '/' + tasks[task].test;

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
  choose: choose,
  data: data,

  published: published,

  // By name; `names`: those of the paper's Table 1, in its order.
  tasks: tasks,
  names: [task.name for task in records if task.paper],

  // A row of a task: its baseline, or its model with ELMo.
  local row(task, elmo) = {
    config: task + (if elmo then '_elmo' else ''),
    row_label: tasks[task].row_label,
    metric: tasks[task].metric,
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
    [if scale == 'paper' && test_file(task) != null then 'file']: test_file(task),
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
  // Training data without a part, which are then scored, too: `aside_f1`.
  part(start, end):: { 'data_loader.type': 'elmo_tasks_share', 'data_loader.part': [start, end] },
  // One layer has no weights to penalise; at `paper` it is not normalized, as in the authors' code.
  only(mix):: {
    'model.elmo.mix': mix,
    'model.elmo.l2': null,
    [if scale == 'paper' then 'model.elmo.layer_norm']: false,
  },

  // CoVe in place of the biLM, for who has its two files: McCann et al.'s encoder and its word vectors.
  cove:: {
    local files = {
      'model.elmo.vectors_file': data + '/vectors/glove.840B.300d.txt',
      'model.elmo.weight_file': data + '/cove/wmtlstm-8f474287.pth',
    },
    changes: files { 'model.elmo.source': 'cove' },
    needs: std.objectValues(files),
  },

  are_pairs(value):: std.isArray(value) && std.all([std.isArray(one) && std.length(one) == 2 for one in value]),

  // The scale in words, for the table's header.
  caps: choose({
    mini: 'Scale mini: the synthetic corpus, small models, both rows of a pair with the same cap in epochs.',
    small: 'Scale small: small real data and the bundled biLM. Both rows of a pair are trained to early stopping, with '
           + 'the same patience and the same cap ('
           + std.join(', ', [tasks[task].row_label + ' ' + cap(configs[task]) for task in $.names])
           + ').',
    paper: 'Scale paper: the data, the biLM and the hyper-parameters of the paper.',
  }),
}
