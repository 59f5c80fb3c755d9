// Gamma of Eq. (1) (A.2): without it the last layer alone does badly. Dev data. At `paper`, SNLI
// reads a biLM that is tuned on its training data first (A.1).
// Command: elmo-tasks ablate gamma -s out/gamma --seeds 3
local rows = import 'rows.libsonnet';

local task(name, baseline, last, without) = [
  rows.baseline(name) { paper: baseline },
  rows.elmo(name, 'last, gamma') { name: name + '-last', changes: rows.only('last'), paper: last },
  rows.elmo(name, 'last, no gamma') {
    name: name + '-last-no-gamma',
    changes: rows.only('last') { 'model.elmo.gamma': false },
    paper: { says: without },
  },
  rows.elmo(name, 'all, gamma'),
  rows.elmo(name, 'all, no gamma') { name: name + '-no-gamma', changes: { 'model.elmo.gamma': false } },
];

{
  title: 'Gamma',
  about: 'Dev data. ' + rows.caps,
  increase: { over: 'baseline' },
  rows: rows.tuning(['snli']) + task('snli', 88.1, 89.1, 'well below baseline') + task('srl', 81.6, 84.1, 'training failed'),
}
