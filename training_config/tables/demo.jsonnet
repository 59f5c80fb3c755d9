// NER without and with ELMo on dev data, the smallest table: two runs of Table 1.
// Command: elmo-tasks ablate demo -s out/demo
local rows = import 'rows.libsonnet';

{
  title: 'NER without and with ELMo',
  about: 'Increase: absolute, and relative to the error that the baseline leaves. ' + rows.caps,
  increase: { of: 'ELMo', over: 'baseline' },
  rows: [rows.baseline('ner'), rows.elmo('ner')],
}
