// squad.jsonnet with ELMo as in paper/, from the bundled biLM.
local bilm = (import 'fixtures.libsonnet') + '/bilm';

(import 'squad.jsonnet') {
  model+: {
    elmo: (import 'paper/squad_elmo.jsonnet').model.elmo {
      options_file: bilm + '/options.json',
      weight_file: bilm + '/weights.hdf5',
      dropout: 0.2,  // with 0.5 the smaller model learned more slowly
    },
  },
}
