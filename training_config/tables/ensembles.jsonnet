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

// `single` and `ensemble`: rows of the paper's table. `scores`: [metric, its name in the
// table, what to add to the columns' names].
local task(name, table, single, ensemble, scores) =
  local row(column, label) = rows.elmo(name) + rows.scored_on_test(name) + {
    local paper = rows.published[table][label],
    cells: [{ column: column + score[2], metric: score[0], paper: paper[score[1]] } for score in scores],
  };
  rows.tuning([name]) + [
    row('single', single),
    row('ensemble', ensemble) {
      name: name + '-ensemble',
      ensemble: { of: name + '-elmo', members: members[name], how: 'probabilities' },
      minutes: 1,
    },
  ];

{
  title: 'Ensembles (Tables 8 and 9)',
  about: rows.caps,
  increase: { of: 'ensemble', over: 'single' },
  rows: task('snli', 'Table 8', 'ESIM+ELMo', 'ESIM+ELMo ensemble', [['accuracy', 'accuracy', '']])
        + task(
          'squad',
          'Table 9',
          'BiDAF + Self Attention + ELMo',
          'BiDAF + Self Attention + ELMo Ensemble',
          [['f1', 'F1', ''], ['em', 'EM', ', EM']],
        ),
}
