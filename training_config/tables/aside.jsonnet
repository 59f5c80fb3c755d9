// Table 1 as a user would hold data out: the last tenth of each task's training data is put aside once, and no row is
// trained on it. The best epoch is chosen on dev data; the second line of a task has its scores on what is aside, which
// no choice has seen. Both lines have the same runs.
//
// Documents (coreference, SRL), articles (SQuAD) and sentences are not divided (`part` of the data loader
// `elmo_tasks_share`). A file that is sorted by genre, such as OntoGUM, has few genres aside. No biLM is tuned, at `paper`
// neither: it would have read the text that is aside.
// Command: elmo-tasks ablate aside -s out/aside --seeds 3
local rows = import 'rows.libsonnet';

local on_dev(row) = row { row_label: super.row_label + ', dev', changes+: rows.part(0, 0.9) };
local on_aside(row) = row {
  name: super.name + '-aside',
  row_label: super.row_label + ', aside',
  metric: 'aside_' + super.metric,
  changes+: rows.part(0, 0.9),
};

{
  title: 'Table 1, scored on dev and on training data put aside',
  about: 'The last tenth of the training data is put aside; the best epoch is chosen on dev. Increase: absolute, and '
         + 'relative to the error that the baseline leaves. ' + rows.caps,
  increase: 'baseline',
  rows: [
    scored(row)
    for task in rows.names
    for scored in [on_dev, on_aside]
    for row in [rows.baseline(task), rows.untuned(task, 'ELMo')]
  ],
}
