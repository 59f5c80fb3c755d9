// Lambda for NER, a task with little data: the paper says that results are insensitive to it (section 5.1). Dev data.
// Command: allennlp ablate training_config/ablations/lambda.jsonnet -s out/lambda --seeds 3
local ablation = import '../lib/ablation.libsonnet';

{
  title: 'Lambda for NER',
  about: 'Dev data; lambda weighs against a loss that is summed over the batch. The paper: insensitive, no numbers. '
         + ablation.caps,
  increase: { over: 'baseline' },
  rows: [ablation.baseline('ner')] + [
    ablation.elmo('ner', 'λ=%g' % lambda) { name: 'ner-lambda-%g' % lambda, changes: ablation.weighted(lambda) }
    for lambda in [0.0, 0.001, 0.01, 0.1, 1.0]
  ],
}
