// SST-5 with each tenth of the training data put aside in turn: no row is trained on its tenth, and the best epoch is
// chosen on dev. Together the tenths are all of the training data, once. A row's training data begin after its tenth and
// wrap around to the beginning of the file.
// Command: elmo-tasks ablate tenths -s out/tenths
local rows = import 'rows.libsonnet';

{
  title: 'SST-5, scored on each tenth of the training data',
  about: 'The tenth is put aside; the best epoch is chosen on dev. Increase: absolute, and relative to the error that the '
         + 'baseline leaves. ' + rows.caps,
  increase: 'baseline',
  rows: [
    row {
      name: '%s-%d' % [super.name, tenth],
      row_label: '%s, tenth %d' % [super.row_label, tenth],
      metric: 'aside_' + super.metric,
      changes+: rows.part(tenth / 10, (tenth - 1) / 10),
    }
    for tenth in std.range(1, 10)
    for row in [rows.baseline('sst'), rows.untuned('sst', 'ELMo')]
  ],
}
