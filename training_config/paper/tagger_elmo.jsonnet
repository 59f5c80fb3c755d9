// The tagger with ELMo at the input of the encoder; `l2` weighs against a loss per word. Expected: the page PRETRAIN.
// Command: elmo-tasks train training_config/paper/tagger_elmo.jsonnet -s out/tagger_elmo
local data = std.extVar('ELMO_TASKS_DATA');

(import 'tagger.jsonnet') {
  model+: {
    elmo: {
      options_file: data + '/bilm/options.json',
      weight_file: data + '/bilm/weights.hdf5',
      at: 'input',
      mix: 'weighted',
      l2: 0.001,
      layer_norm: false,
      gamma: true,
      dropout: 0.0,
      state: 'reset',
    },
  },
}
