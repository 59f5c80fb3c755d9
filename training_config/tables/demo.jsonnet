// NER without and with ELMo, the smallest table: two runs of Table 1, and the paper's scores.
// Command: elmo-tasks ablate demo -s out/demo
local rows = import 'rows.libsonnet';
local table1 = rows.published['Table 1'];

{
  title: 'NER without and with ELMo',
  about: 'Increase: absolute, and relative to the error that the baseline leaves. ' + rows.caps,
  increase: 'baseline',
  rows: [
    rows.baseline('ner') + rows.scored_on_test('ner') + { paper: table1.NER.baseline },
    rows.elmo('ner') + rows.scored_on_test('ner') + { paper: table1.NER.ELMo },
  ],
}
