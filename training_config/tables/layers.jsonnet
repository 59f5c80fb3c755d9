// Each layer of the biLM alone, and all of them, where the configs put ELMo: which layer gains, and does that depend on
// the biLM? Dev data; for biLMs of two LSTM layers, as the paper's.
// Command: elmo-tasks ablate layers -s out/layers --seeds 3
//   Other tasks, and biLMs that `elmo-tasks bilm export` wrote, one line for each, in your own file:
//   (import 'training_config/tables/layers.jsonnet') {
//     tasks:: ['snli'], exports:: [['15 M', 'out/15M'], ['59 M', null]],
//   }
local rows = import 'rows.libsonnet';

{
  local known = ['about', 'exports', 'increase', 'rows', 'tasks', 'title'],
  assert std.objectFieldsAll(self) == known : 'expected the fields ' + std.join(', ', known),
  assert rows.are_pairs(self.exports) : 'expected pairs in `exports`, such as [["15 M", "out/15M"]]',
  tasks:: rows.names,
  // Labels and folders of exported biLMs; null: the biLM of the configs.
  exports:: [[null, null]],

  local alone(task, mix, column) = rows.untuned(task, column) {
    name: '%s-%s' % [task, std.strReplace(column, ' ', '-')],
    changes: rows.only(mix),
  },
  local elmo(task) = [
    alone(task, 'layer:0', 'layer 0'),
    alone(task, 'layer:1', 'layer 1'),
    alone(task, 'last', 'last layer'),
    rows.untuned(task, 'all layers'),
  ],
  local of(label, row) = row {
    [if label != null then 'name']: super.name + '-' + std.strReplace(label, ' ', ''),
    [if label != null then 'row_label']: super.row_label + ', ' + label,
  },
  local with(folder, row) = row {
    [if folder != null then 'changes']+: { 'model.elmo.model': folder },
    [if folder != null then 'needs']: [folder],
  },

  title: 'Each layer alone, and all of them',
  about: 'Dev data. ' + rows.caps,
  increase: 'baseline',
  rows: [
    of(one[0], row)
    for task in $.tasks
    for one in $.exports
    for row in [rows.baseline(task)] + [with(one[1], row) for row in elmo(task)]
  ],
}
