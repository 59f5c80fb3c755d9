// Table 2 (section 5.1): the last layer alone, or all layers with a large and a small lambda. Dev data. ELMo stands where the configs put it: SQuAD and SNLI input and output, SRL input. At `paper`, SQuAD and
// SNLI read a biLM that is tuned on their training data first (A.1).
// Command: elmo-tasks ablate table2 -s out/table2 --seeds 3
local rows = import 'rows.libsonnet';

local task(name, baseline, last, one, small) = [
  rows.baseline(name) { paper: baseline },
  rows.elmo(name, 'last only') { name: name + '-last', changes: rows.only('last'), paper: last },
  rows.elmo(name, 'all, λ=1') { name: name + '-lambda-1', changes: rows.weighted(1.0), paper: one },
  rows.elmo(name, 'all, λ=0.001') {
    name: name + '-lambda-0.001',
    changes: rows.weighted(0.001),
    paper: small,
  },
];

{
  title: 'Table 2: the last layer, or all of them',
  about: 'Dev data. ' + rows.caps,
  increase: { over: 'baseline' },
  rows: rows.tuning(['squad', 'snli'])
        + task('squad', 80.8, 84.7, 85.0, 85.2)
        + task('snli', 88.1, 89.1, 89.3, 89.5)
        + task('srl', 81.6, 84.1, 84.6, 84.8),
}
