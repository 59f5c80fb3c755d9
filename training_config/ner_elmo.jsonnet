// Named entities, with ELMo at the encoder's input: paper, appendix A.7 (lambda 0.1, no layer normalisation).
//
// Departures from the paper: those of ner.jsonnet. The embedded biLM at mini and small is not fine-tuned on the task's text.
// One layer alone has no weights to penalise: -o '{"model.elmo.mix": "last", "model.elmo.l2": null}'
//
// Expected F1: paper 92.22 +- 0.10 (CoNLL-2003 test); small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/ner_elmo.jsonnet -s out/ner_elmo
// Time: mini two minutes, small seven minutes on one CPU core, paper some hours on a GPU.
local settings = import 'lib/settings.libsonnet';

(import 'ner.jsonnet') {
  model+: {
    elmo: settings.bilm {
      at: 'input',
      mix: 'weighted',
      l2: 0.1,
      layer_norm: false,
      gamma: true,
      dropout: 0.0,
      state: 'reset',
    },
  },
}
