// Sentiment with ELMo at the input and after the encoder: appendix A.8. Departures: the page PAPER.
// Expected accuracy: 54.7 +- 0.5 (test). Some hours on a GPU. AllenNLP's reading: sst_allennlp.jsonnet.
// Command: elmo-tasks train training_config/paper/sst_elmo.jsonnet -s out/sst_elmo
local data = std.extVar('ELMO_TASKS_DATA');

(import 'sst.jsonnet') {
  model+: {
    elmo: {
      options_file: data + '/bilm/options.json',
      weight_file: data + '/bilm/weights.hdf5',
      at: 'both',
      mix: 'weighted',
      l2: 0.001,
      layer_norm: false,
      gamma: true,
      dropout: 0.5,
      state: 'reset',
    },
  },
}
