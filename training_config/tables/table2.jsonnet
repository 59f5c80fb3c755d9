// Table 2 (section 5.1): the last layer alone, or all layers with a large and a small lambda; and what the text says of
// CoVe. Dev data. ELMo stands where the configs put it: SQuAD and SNLI input and output, SRL input. At `paper`, SQuAD and
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

// McCann et al. (2017): their encoder in the place of the biLM.
local cove_files = {
  'model.elmo.vectors_file': rows.data + '/vectors/glove.840B.300d.txt',
  'model.elmo.weight_file': rows.data + '/cove/wmtlstm-8f474287.pth',
};
local cove(name, last, one) = [
  row {
    row_label: super.row_label + ', CoVe',
    changes+: cove_files { 'model.elmo.source': 'cove', 'model.elmo.options_file': null },
    needs: std.objectValues(cove_files),
  }
  for row in [
    rows.untuned(name, 'last only') { name: name + '-cove-last', changes: rows.only('last'), paper: last },
    rows.untuned(name, 'all, λ=1') { name: name + '-cove-lambda-1', changes: rows.weighted(1.0), paper: one },
  ]
];

{
  title: 'Table 2: the last layer, or all of them',
  about: 'Dev data. ' + rows.caps,
  increase: { over: 'baseline' },
  rows: rows.tuning(['squad', 'snli'])
        + task('squad', 80.8, 84.7, 85.0, 85.2)
        + task('snli', 88.1, 89.1, 89.3, 89.5)
        + task('srl', 81.6, 84.1, 84.6, 84.8)
        + cove('snli', 88.2, 88.7)
        + cove('srl', 82.1, 82.2),
}
