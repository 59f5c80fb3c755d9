// Named entities with ELMo at the input of the encoder: appendix A.7. Departures: the page PAPER.
// Expected F1: 92.22 +- 0.10 (test). Some hours on a GPU.
// Command: elmo-tasks train training_config/paper/ner_elmo.jsonnet -s out/ner_elmo
local data = std.extVar('ELMO_TASKS_DATA');

(import 'ner.jsonnet') {
  model+: {
    elmo: {
      options_file: data + '/bilm/options.json',
      weight_file: data + '/bilm/weights.hdf5',
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
