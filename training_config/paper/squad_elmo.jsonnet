// SQuAD with ELMo at the input and the output of the lowest GRU: appendix A.4. Departures: the page PAPER.
// Expected F1: 85.8 (test), 85.6 (dev). Some days on a GPU.
// Command: elmo-tasks train training_config/paper/squad_elmo.jsonnet -s out/squad_elmo
local data = std.extVar('ELMO_TASKS_DATA');

(import 'squad.jsonnet') {
  model+: {
    elmo: {
      options_file: data + '/bilm/options.json',
      weight_file: data + '/bilm/weights.hdf5',
      at: 'both',
      mix: 'weighted',
      l2: 0.0,
      layer_norm: false,
      gamma: true,
      dropout: 0.5,
      state: 'reset',
    },
  },
}
