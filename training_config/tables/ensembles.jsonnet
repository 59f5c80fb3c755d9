// Tables 8 and 9 (A.3, A.4): an ensemble of models that differ in their seed, with the mean of their probabilities. Its
// members are runs of another row; seeds 1 to `members`, whatever --seeds says. At `paper`, both tasks read a biLM that
// is tuned on their training data first (A.1).
// Command: elmo-tasks ablate ensembles -s out/ensembles --seeds 3
local rows = import 'rows.libsonnet';

local members = rows.choose({
  mini: { snli: 3, squad: 3 },
  small: { snli: 3, squad: 3 },
  paper: { snli: 5, squad: 11 },
});

// `single` and `ensemble`: rows of the paper's table, and `of_paper` the column there. Each metric after the first has other
// rows, with the same runs.
local scored(name, metric, suffix, table, of_paper, single, ensemble) =
  local row = rows.elmo(name) + rows.scored_on_test(name) + {
    name: name + '-elmo' + suffix,
    row_label: super.row_label + suffix,
    metric: metric,
  };
  [
    row { column: 'single', paper: rows.published[table][single][of_paper] },
    row {
      name: name + '-ensemble' + suffix,
      column: 'ensemble',
      paper: rows.published[table][ensemble][of_paper],
      ensemble: { of: name + '-elmo', members: members[name] },
    },
  ];

local squad(metric, suffix, of_paper) = scored(
  'squad', metric, suffix, 'Table 9', of_paper, 'BiDAF + Self Attention + ELMo', 'BiDAF + Self Attention + ELMo Ensemble'
);

{
  title: 'Ensembles (Tables 8 and 9)',
  about: rows.caps,
  increase: 'single',
  rows: rows.tuning(['snli', 'squad'])
        + scored('snli', 'accuracy', '', 'Table 8', 'accuracy', 'ESIM+ELMo', 'ESIM+ELMo ensemble')
        + squad('f1', '', 'F1')
        + squad('em', '-EM', 'EM'),
}
