// Section 5.4: after how many epochs SRL with ELMo passes the best that the baseline ever reaches. Dev data.
// Command: allennlp ablate training_config/ablations/epochs.jsonnet -s out/epochs --seeds 3
local ablation = import '../lib/ablation.libsonnet';

local task(name, best, passing) = [
  ablation.baseline(name) {
    cells: [
      { column: 'best epoch of the baseline', metric: 'best_epoch', paper: best },
      { column: 'its score', metric: ablation.tasks[name].metric },
    ],
  },
  ablation.elmo(name) {
    cells: [
      { column: 'epoch at which ELMo passes it', metric: 'passes', over: name + '-baseline', paper: passing },
      { column: 'score with ELMo', metric: ablation.tasks[name].metric },
    ],
  },
];

{
  title: 'Epochs: how fast ELMo learns',
  about: 'Dev data; epochs count from 1, runs of the same seed are compared. ' + ablation.caps,
  rows: ablation.tuning(['snli']) + task('srl', 486, 10) + task('snli', null, null),
}
