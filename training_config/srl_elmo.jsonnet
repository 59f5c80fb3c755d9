// Semantic roles with ELMo at the input of the encoder: paper, appendix A.5. All else is srl.jsonnet.
//
// Departures from the paper: as in srl.jsonnet. Word vectors stay, as section 3.3 has it; AllenNLP's configuration
//   for the paper's model leaves them out (`model.word_vectors: false`).
//
// Expected F1: paper 84.6 (CoNLL-2012 test; 84.8 dev), and after 10 epochs more than the baseline after 486 (section
//   5.4); small and mini: docs/RESULTS.md.
// Command: allennlp train training_config/srl_elmo.jsonnet -s out/srl_elmo
//   Places and mixes: -o '{"model.elmo.at": "output"}', -o '{"model.elmo.mix": "last", "model.elmo.l2": null}';
//   -o '{"model.elmo": null}'
//   is srl.jsonnet.
// Time: mini a minute, small three quarters of an hour with cache_dir, on one CPU core; paper some days on a GPU.
local settings = import 'lib/settings.libsonnet';

(import 'srl.jsonnet') {
  model+: {
    elmo: settings.bilm {
      at: 'input',
      mix: 'weighted',
      l2: 0.001,
      layer_norm: false,
      gamma: true,
      dropout: 0.1,
      state: 'reset',
    },
  },
}
