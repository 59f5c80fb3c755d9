// Gamma of Eq. (1) (A.2): without it the last layer alone does badly. Dev data. At `paper`, SNLI
// reads a biLM that is tuned on its training data first (A.1).
// Command: allennlp ablate training_config/ablations/gamma.jsonnet -s out/gamma --seeds 3
local ablation = import '../lib/ablation.libsonnet';

local task(name, baseline, last, without) = [
  ablation.baseline(name) { paper: baseline },
  ablation.elmo(name, 'last, gamma') { name: name + '-last', changes: ablation.only('last'), paper: last },
  ablation.elmo(name, 'last, no gamma') {
    name: name + '-last-no-gamma',
    changes: ablation.only('last') { 'model.elmo.gamma': false },
    paper: { says: without },
  },
  ablation.elmo(name, 'all, gamma'),
  ablation.elmo(name, 'all, no gamma') { name: name + '-no-gamma', changes: { 'model.elmo.gamma': false } },
];

{
  title: 'Gamma',
  about: 'Dev data. ' + ablation.caps,
  increase: { over: 'baseline' },
  rows: ablation.tuning(['snli']) + task('snli', 88.1, 89.1, 'well below baseline') + task('srl', 81.6, 84.1, 'training failed'),
}
