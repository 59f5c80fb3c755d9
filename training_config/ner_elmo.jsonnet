// Named entities with ELMo at the input of the encoder: paper, appendix A.7. All else is ner.jsonnet.
//
// Departures from the paper: as in ner.jsonnet. lambda (`l2`) is 0.1, which weighs against a loss that is summed
//   over the batch; the paper does not say against what. Whether its biLM was fine-tuned is unknown; ours is not.
//
// Expected F1: paper 92.22 +- 0.10 (CoNLL-2003 test); small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/ner_elmo.jsonnet -s out/ner_elmo
//   Places and mixes: -o '{"model.elmo.at": "both"}', -o '{"model.elmo.mix": "last", "model.elmo.l2": null}';
//   -o '{"model.elmo": null}' is ner.jsonnet.
// Time: mini three minutes, small twelve on one CPU core; paper some hours on a GPU.
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
