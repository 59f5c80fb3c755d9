// A tagger for column data of your own, with ELMo at the input of the encoder. Everything else is tagger.jsonnet.
//
// Departures from the paper, appendix A.7: as in tagger.jsonnet. lambda (`l2`) weighs against a loss per word.
//
// Expected accuracy: docs/LANGUAGES.md.
// Command: allennlp train training_config/tagger_elmo.jsonnet -s out/tagger_elmo -o '{
//     "train_data_path": "train.conllu", "validation_data_path": "dev.conllu",
//     "model.elmo.options_file": "BILM/options.json", "model.elmo.weight_file": "BILM/weights.hdf5"}'
// Time: mini a minute; 1,200 sentences six minutes on one CPU core.
local settings = import 'lib/settings.libsonnet';

(import 'tagger.jsonnet') {
  model+: {
    elmo: settings.bilm {
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
