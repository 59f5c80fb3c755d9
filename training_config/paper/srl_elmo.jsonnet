// Semantic roles with ELMo at the input of the encoder: appendix A.5. Departures: the page PAPER.
// Expected F1: 84.6 (test), 84.8 (dev); after 10 epochs more than srl.jsonnet after 486 (section 5.4). Days on a GPU.
// Command: elmo-tasks train training_config/paper/srl_elmo.jsonnet -s out/srl_elmo
local data = std.extVar('ELMO_TASKS_DATA');

(import 'srl.jsonnet') {
  model+: {
    elmo: {
      options_file: data + '/bilm/options.json',
      weight_file: data + '/bilm/weights.hdf5',
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
