// Coreference with ELMo at the input of the encoder: appendix A.6. Departures: the page PAPER.
// Expected average F1: 70.4 (test). Three days on a GPU. The paper's dropout of 0.5 is `input_dropout`.
// Command: elmo-tasks train training_config/paper/coref_elmo.jsonnet -s out/coref_elmo
local data = std.extVar('ELMO_TASKS_DATA');

(import 'coref.jsonnet') {
  model+: {
    elmo: {
      options_file: data + '/bilm/options.json',
      weight_file: data + '/bilm/weights.hdf5',
      at: 'input',
      mix: 'weighted',
      l2: null,
      layer_norm: false,
      gamma: true,
      dropout: 0.0,
      state: 'reset',
    },
  },
}
