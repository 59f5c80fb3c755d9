// Table 1 (section 4): six tasks without and with ELMo. Test data at `paper`, but for SQuAD, whose are not public; dev
// at `mini` and `small`. At `paper`, SNLI and SQuAD read a biLM that is fine-tuned on their training data first (A.1).
// Command: elmo-tasks ablate table1 -s out/table1 --seeds 3
local rows = import 'rows.libsonnet';

local pair(task, baseline, elmo) = rows.tuning([task]) + [
  rows.baseline(task) + rows.scored_on_test(task) + { paper: baseline },
  rows.elmo(task) + rows.scored_on_test(task) + { paper: elmo },
];

{
  title: 'Table 1: ELMo in six models',
  about: 'Increase: absolute, and relative to the error that the baseline leaves. ' + rows.caps,
  increase: { of: 'ELMo', over: 'baseline' },
  rows: pair('squad', 81.1, 85.8)
        + pair('snli', 88.0, { mean: 88.7, deviation: 0.17 })
        + pair('srl', 81.4, 84.6)
        + pair('coref', 67.2, 70.4)
        + pair('ner', 90.15, { mean: 92.22, deviation: 0.10 })
        + pair('sst', 51.4, { mean: 54.7, deviation: 0.5 }),
}
