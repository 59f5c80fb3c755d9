// NER without and with ELMo, the smallest table: two runs of Table 1, and the paper's scores.
// Command: elmo-tasks ablate demo -s out/demo
local rows = import 'rows.libsonnet';

{
  title: 'NER without and with ELMo',
  about: 'Increase: absolute, and relative to the error that the baseline leaves. ' + rows.caps,
  increase: { of: 'ELMo', over: 'baseline' },
  rows: [
    rows.baseline('ner') + rows.scored_on_test('ner') + { paper: rows.tasks.ner.paper[0] },
    rows.elmo('ner') + rows.scored_on_test('ner') + { paper: rows.tasks.ner.paper[1] },
  ],
}
