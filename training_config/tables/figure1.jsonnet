// Figure 1 (section 5.4): SNLI and SRL from a share of the training data. Each share is a sample that holds the smaller
// ones; a seed draws its own. Dev data.
//
// Departures from the paper, which says nothing about sampling and stopping: at mini and small every share has as many
// updates as the whole data have, so that small shares are read more often. At `paper`, SNLI reads a biLM that is tuned
// on all of its training data first (A.1), whatever the share.
// Command: elmo-tasks ablate figure1 -s out/figure1
local rows = import 'rows.libsonnet';

local shares = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];
local batches = rows.choose({
  mini: { snli: 94, srl: 44 },
  small: { snli: 410, srl: 65 },
  paper: { snli: null, srl: null },
});

local at(task, share, row) = row {
  name: super.name + '-%g' % share,
  row_label: super.row_label + ', ' + super.column,
  column: '%g%%' % (100 * share),
  changes+: {
    'data_loader.type': 'elmo_tasks_share',
    'data_loader.share': share,
    'data_loader.batches_per_epoch': batches[task],
  },
};

{
  title: 'Figure 1: share of the training data',
  about: 'Dev data. The paper: SRL with ELMo from 1% of the data is about as good as the baseline from 10%. '
         + rows.caps,
  rows: rows.tuning(['snli']) + [
    at(task, share, row)
    for task in ['snli', 'srl']
    for row in [rows.baseline(task), rows.elmo(task)]
    for share in shares
  ],
}
