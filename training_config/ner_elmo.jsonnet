// Named entities, with ELMo at the encoder's input: paper, appendix A.7.
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
