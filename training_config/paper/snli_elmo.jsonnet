// SNLI with ELMo at the input and the output of the lowest encoder: appendix A.3. Departures: the page PAPER.
// Expected accuracy: 88.7 +- 0.17 (test), 89.5 (dev). A day on a GPU.
// Command: elmo-tasks train training_config/paper/snli_elmo.jsonnet -s out/snli_elmo
local data = std.extVar('ELMO_TASKS_DATA');

(import 'snli.jsonnet') {
  model+: {
    elmo: {
      options_file: data + '/bilm/options.json',
      weight_file: data + '/bilm/weights.hdf5',
      at: 'both',
      mix: 'weighted',
      l2: 0.001,
      layer_norm: 'sentence',
      gamma: true,
      dropout: 0.0,
      state: 'reset',
    },
  },
}
