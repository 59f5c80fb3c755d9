// Gamma of Eq. (1) (A.2): without it the last layer alone does badly. Dev data. At `paper`, SNLI
// and SQuAD read a biLM that is tuned on their training data first (A.1).
// Command: elmo-tasks ablate gamma -s out/gamma --seeds 3
local rows = import 'rows.libsonnet';

local of_gamma = rows.published['Section A.2'];

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
      [if std.objectHas(of_gamma, label) then 'paper']: of_gamma[label]['last, no gamma'],
    },
    rows.elmo(name, 'all, gamma'),
    rows.elmo(name, 'all, no gamma') { name: name + '-no-gamma', changes: { 'model.elmo.gamma': false } },
  ];

{
  title: 'Gamma',
  about: 'Dev data. ' + rows.caps,
  increase: 'baseline',
  rows: rows.tuning(['snli', 'squad']) + task('snli') + task('srl') + task('squad'),
}
