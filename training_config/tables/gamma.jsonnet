// Gamma of Eq. (1) (A.2): without it the last layer alone does badly. Dev data. At `paper`, SNLI
// reads a biLM that is tuned on its training data first (A.1).
// Command: elmo-tasks ablate gamma -s out/gamma --seeds 3
local rows = import 'rows.libsonnet';

local task(name) =
  local label = rows.tasks[name].row_label;
  local table2 = rows.published['Table 2'][label];
  [
    rows.baseline(name) { paper: table2.baseline },
    rows.elmo(name, 'last, gamma') {
      name: name + '-last',
      changes: rows.only('last'),
      paper: table2['last only'],
    },
    rows.elmo(name, 'last, no gamma') {
      name: name + '-last-no-gamma',
      changes: rows.only('last') { 'model.elmo.gamma': false },
      paper: rows.published['Section A.2'][label]['last, no gamma'],
    },
    rows.elmo(name, 'all, gamma'),
    rows.elmo(name, 'all, no gamma') { name: name + '-no-gamma', changes: { 'model.elmo.gamma': false } },
  ];

{
  title: 'Gamma',
  about: 'Dev data. ' + rows.caps,
  increase: { over: 'baseline' },
  rows: rows.tuning(['snli']) + task('snli') + task('srl'),
}
