// snli.jsonnet with ELMo as in paper/, from the bundled biLM.
local bilm = (import 'fixtures.libsonnet') + '/bilm';

(import 'snli.jsonnet') {
  model+: {
    elmo: (import 'paper/snli_elmo.jsonnet').model.elmo {
      options_file: bilm + '/options.json',
      weight_file: bilm + '/weights.hdf5',
    },
  },
}
