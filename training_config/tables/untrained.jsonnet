// What language modelling gives, and what characters and recurrent layers of any kind: the rows of Table 1 with a biLM of
// random weights between them. Dev data.
// Command: elmo-tasks bilm random out/untrained && elmo-tasks ablate untrained -s out/controls --seeds 3
local rows = import 'rows.libsonnet';

{
  local known = ['about', 'increase', 'model', 'rows', 'title'],
  assert std.objectFieldsAll(self) == known : 'expected the fields ' + std.join(', ', known),
  // The folder of the untrained biLM.
  model:: 'out/untrained',

  local untrained(task) = rows.untuned(task, 'untrained') {
    name: task + '-untrained',
    changes: { 'model.elmo.model': $.model },
    needs: [$.model],
  },

  title: 'A biLM without training',
  about: 'Dev data. The untrained biLM has the architecture of the trained one, and random weights. ' + rows.caps,
  increase: 'baseline',
  rows: std.flattenArrays([
    [rows.baseline(task), untrained(task), rows.untuned(task, 'ELMo')]
    for task in rows.names
  ]),
}
