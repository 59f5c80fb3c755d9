// srl.jsonnet with ELMo as in paper/, from the bundled biLM.
local bilm = (import 'fixtures.libsonnet') + '/bilm';

(import 'srl.jsonnet') {
  model+: {
    elmo: (import 'paper/srl_elmo.jsonnet').model.elmo {
      options_file: bilm + '/options.json',
      weight_file: bilm + '/weights.hdf5',
    },
  },
}
