// coref.jsonnet with ELMo as in paper/, from the bundled biLM.
local bilm = (import 'fixtures.libsonnet') + '/bilm';

(import 'coref.jsonnet') {
  model+: {
    elmo: (import 'paper/coref_elmo.jsonnet').model.elmo {
      options_file: bilm + '/options.json',
      weight_file: bilm + '/weights.hdf5',
      dropout: 0.3,
    },
  },
}
