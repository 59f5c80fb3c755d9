// Fine-tuning of the bundled biLM, which has its softmax, on SNLI's text. A quarter of an hour on one CPU core.
local bilm = (import '../fixtures.libsonnet') + '/bilm';

(import '../paper/bilm_finetune.jsonnet') {
  dataset_reader+: { reader+: { tokenization: 'sentence' } },
  vocabulary+: { file: bilm + '/vocabulary.txt' },
  model+: { bilm: bilm, negatives: null },
  data_loader+: { batch_size: 16 },
  trainer+: {
    num_epochs: 1,
    optimizer+: { lr: 5e-4 },
    callbacks: [
      { type: 'elmo_tasks_lm_progress' },
      { type: 'elmo_tasks_tuning', softmax_epochs: 0 },
    ],
  },
}
