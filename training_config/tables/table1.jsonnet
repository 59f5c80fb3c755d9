// Table 1 (section 4): six tasks without and with ELMo. Test data at `paper`, but for SQuAD, whose are not public; dev
// at `mini` and `small`. At `paper`, SNLI and SQuAD read a biLM that is fine-tuned on their training data first (A.1).
// Command: elmo-tasks ablate table1 -s out/table1 --seeds 3
local rows = import 'rows.libsonnet';
local table1 = rows.published['Table 1'];

local pair(task) = rows.tuning([task]) + [
  rows.baseline(task) + rows.scored_on_test(task) + { paper: table1[rows.tasks[task].row_label].baseline },
  rows.elmo(task) + rows.scored_on_test(task) + { paper: table1[rows.tasks[task].row_label].ELMo },
];

{
  title: 'Table 1: ELMo in six models',
  about: 'Increase: absolute, and relative to the error that the baseline leaves. ' + rows.caps,
  increase: 'baseline',
  rows: std.flattenArrays([pair(task) for task in rows.names]),
}
