// Section 5.4: after how many epochs SRL with ELMo passes the best that the baseline ever reaches. Dev data.
// Command: elmo-tasks ablate epochs -s out/epochs --seeds 3
local rows = import 'rows.libsonnet';

// The paper has these epochs for SRL alone.
local paper(name, key) =
  local known = std.get(rows.published['Section 5.4'], rows.tasks[name].row_label, {});
  std.get(known, key);

local task(name) = [
  rows.baseline(name) { column: 'score of the baseline' },
  rows.baseline(name) {
    name: name + '-baseline-epoch',
    column: 'its best epoch',
    metric: 'best_epoch',
    paper: paper(name, 'best epoch'),
  },
  rows.elmo(name) { column: 'score with ELMo' },
  rows.elmo(name) {
    name: name + '-elmo-epoch',
    column: 'epoch at which ELMo passes the baseline',
    metric: 'passes',
    over: name + '-baseline',
    paper: paper(name, 'passing epoch'),
  },
];

{
  title: 'Epochs: how fast ELMo learns',
  about: 'Dev data; epochs count from 1, runs of the same seed are compared. ' + rows.caps,
  rows: rows.tuning(['snli']) + task('srl') + task('snli'),
}
