// new_task without and with ELMo.
// Command: elmo-tasks ablate new_task -s out/new_task_table
local rows = import 'rows.libsonnet';

{
  title: 'new_task',
  about: 'Accuracy on the sample.',
  increase: 'baseline',
  rows: [rows.baseline('new_task'), rows.elmo('new_task')],
}
