// new_task with ELMo at the input, from the bundled biLM. Not in the paper. Its score: not measured.
// Command: elmo-tasks train new_task_elmo -s out/new_task_elmo
local bilm = (import 'fixtures.libsonnet') + '/bilm';

(import 'new_task.jsonnet') {
  model+: {
    elmo: {
      options_file: bilm + '/options.json',
      weight_file: bilm + '/weights.hdf5',
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
