// Tables 8 and 9 (A.3, A.4): an ensemble of models that differ in their seed, with the mean of their probabilities (or,
// `how: 'votes'`, their votes). Its members are runs of another row; seeds 1 to `members`, whatever --seeds says. At
// `paper`, both tasks read a biLM that is tuned on their training data first (A.1).
// Command: elmo-tasks ablate ensembles -s out/ensembles --seeds 3
local rows = import 'rows.libsonnet';

local members = rows.choose({
  mini: { snli: 3, squad: 3 },
  small: { snli: 3, squad: 3 },
  paper: { snli: 5, squad: 11 },
});

// `scores`: [metric, what to add to the columns' names, paper's single model, paper's ensemble].
local task(name, scores) =
  local row(column, paper) = rows.elmo(name) + rows.scored_on_test(name) + {
    cells: [{ column: column + score[1], metric: score[0], paper: score[paper] } for score in scores],
  };
  rows.tuning([name]) + [
    row('single', 2),
    row('ensemble', 3) {
      name: name + '-ensemble',
      ensemble: { of: name + '-elmo', members: members[name], how: 'probabilities' },
      minutes: 1,
    },
  ];

{
  title: 'Ensembles (Tables 8 and 9)',
  about: rows.caps,
  increase: { of: 'ensemble', over: 'single' },
  rows: task('snli', [['accuracy', '', rows.tasks.snli.paper[1], 89.3]])
        + task('squad', [['f1', '', rows.tasks.squad.paper[1], 87.4], ['em', ', EM', 78.6, 81.0]]),
}
