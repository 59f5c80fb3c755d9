// sst.jsonnet with ELMo as in paper/, from the bundled biLM.
local bilm = (import 'fixtures.libsonnet') + '/bilm';

(import 'sst.jsonnet') {
  model+: {
    elmo: (import 'paper/sst_elmo.jsonnet').model.elmo {
      options_file: bilm + '/options.json',
      weight_file: bilm + '/weights.hdf5',
      layer_norm: 'sentence',
      dropout: 0.1,
    },
  },
}
