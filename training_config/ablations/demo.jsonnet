// NER without and with ELMo on dev data, the smallest table: two runs of Table 1.
// Command: allennlp ablate training_config/ablations/demo.jsonnet -s out/demo
local ablation = import '../lib/ablation.libsonnet';

{
  title: 'NER without and with ELMo',
  about: 'Increase: absolute, and relative to the error that the baseline leaves. ' + ablation.caps,
  increase: { of: 'ELMo', over: 'baseline' },
  rows: [ablation.baseline('ner'), ablation.elmo('ner')],
}
