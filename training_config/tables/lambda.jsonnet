// Lambda for NER, a task with little data: the paper says that results are insensitive to it (section 5.1). Dev data.
// Command: elmo-tasks ablate lambda -s out/lambda --seeds 3
local rows = import 'rows.libsonnet';

{
  title: 'Lambda for NER',
  about: 'Dev data; lambda weighs against a loss that is summed over the batch. The paper: insensitive, no numbers. '
         + rows.caps,
  increase: 'baseline',
  rows: [rows.baseline('ner')] + [
    rows.elmo('ner', 'λ=%g' % lambda) { name: 'ner-lambda-%g' % lambda, changes: rows.weighted(lambda) }
    for lambda in [0.0, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0]
  ],
}
