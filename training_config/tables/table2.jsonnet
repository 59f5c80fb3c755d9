// Table 2 (section 5.1): the last layer alone, or all layers with a large and a small lambda. Dev data. ELMo stands where
// the configs put it: SQuAD and SNLI input and output, SRL input. At `paper`, SQuAD and SNLI read a biLM that is tuned on
// their training data first (A.1). The text of 5.1 has scores of CoVe, whose rows need its files (the page LAYERS).
// Command: elmo-tasks ablate table2 -s out/table2 --seeds 3
local rows = import 'rows.libsonnet';

local task(name) =
  local paper = rows.published['Table 2'][rows.tasks[name].row_label];
  [
    rows.baseline(name) { paper: paper.baseline },
    rows.elmo(name, 'last only') {
      name: name + '-last',
      changes: rows.only('last'),
      paper: paper['last only'],
    },
    rows.elmo(name, 'all, λ=1') {
      name: name + '-lambda-1',
      changes: rows.weighted(1.0),
      paper: paper['all, λ=1'],
    },
    rows.elmo(name, 'all, λ=0.001') {
      name: name + '-lambda-0.001',
      changes: rows.weighted(0.001),
      paper: paper['all, λ=0.001'],
    },
  ];

local cove(name) =
  local label = rows.tasks[name].row_label + ', CoVe';
  local paper = rows.published['Section 5.1'][label];
  local row(column, mix, changes) = rows.untuned(name, column) + rows.cove {
    name: '%s-cove-%s' % [name, mix],
    row_label: label,
    changes+: changes,
    paper: paper[column],
  };
  [
    row('last only', 'last', rows.only('last')),
    row('all, λ=1', 'lambda-1', rows.weighted(1.0)),
  ];

{
  title: 'Table 2: the last layer, or all of them',
  about: 'Dev data. ' + rows.caps,
  increase: 'baseline',
  rows: rows.tuning(['squad', 'snli'])
        + task('squad')
        + task('snli')
        + cove('snli')
        + task('srl')
        + cove('srl'),
}
