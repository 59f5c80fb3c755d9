// Section 5.4: after how many epochs SRL with ELMo passes the best that the baseline ever reaches. Dev data.
// Command: elmo-tasks ablate epochs -s out/epochs --seeds 3
local rows = import 'rows.libsonnet';

// The paper has these epochs for SRL alone.
local paper(name, key) =
  local known = std.get(rows.published['Section 5.4'], rows.tasks[name].row_label, {});
  std.get(known, key);

local task(name) = [
  rows.baseline(name) {
    cells: [
      { column: 'best epoch of the baseline', metric: 'best_epoch', paper: paper(name, 'best epoch') },
      { column: 'its score', metric: rows.tasks[name].metric },
    ],
  },
  rows.elmo(name) {
    cells: [
      {
        column: 'epoch at which ELMo passes it',
        metric: 'passes',
        over: name + '-baseline',
        paper: paper(name, 'passing epoch'),
      },
      { column: 'score with ELMo', metric: rows.tasks[name].metric },
    ],
  },
];

{
  title: 'Epochs: how fast ELMo learns',
  about: 'Dev data; epochs count from 1, runs of the same seed are compared. ' + rows.caps,
  rows: rows.tuning(['snli']) + task('srl') + task('snli'),
}
