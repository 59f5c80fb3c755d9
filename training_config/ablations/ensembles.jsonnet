// Tables 8 and 9 (A.3, A.4): an ensemble of models that differ in their seed, with the mean of their probabilities (or,
// `how: 'votes'`, their votes). Its members are runs of another row; seeds 1 to `members`, whatever --seeds says.
// Command: allennlp ablate training_config/ablations/ensembles.jsonnet -s out/ensembles --seeds 3
local ablation = import '../lib/ablation.libsonnet';
local settings = import '../lib/settings.libsonnet';

local members = settings.choose({
  mini: { snli: 3, squad: 3 },
  small: { snli: 3, squad: 3 },
  paper: { snli: 5, squad: 11 },
});

local task(name, single, together) = [
  ablation.elmo(name, 'single') + ablation.scored_on_test(name) + { paper: single },
  ablation.elmo(name, 'ensemble') + ablation.scored_on_test(name) + {
    name: name + '-ensemble',
    ensemble: { of: name + '-elmo', members: members[name], how: 'probabilities' },
    paper: together,
    minutes: 1,
  },
];

{
  title: 'Ensembles (Tables 8 and 9)',
  about: ablation.caps,
  increase: { of: 'ensemble', over: 'single' },
  rows: task('snli', { mean: 88.7, deviation: 0.17 }, 89.3) + task('squad', 85.8, 87.4),
}
