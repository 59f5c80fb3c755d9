// new_task without ELMo, on the synthetic corpus. Not in the paper. Its score, and the time on a core: not measured.
// Command: elmo-tasks train new_task -s out/new_task
local corpus = (import 'fixtures.libsonnet') + '/miniworld';

{
  scale:: 'mini',
  type: 'elmo_tasks',
  include_in_archive: ['model.json', 'model_files'],  // which biLM: for `allennlp train`
  dataset_reader: { type: 'elmo_tasks_new_task' },
  train_data_path: corpus + '/new_task/dev.tsv',  // the sample, until there are data
  validation_data_path: corpus + '/new_task/dev.tsv',
  model: {
    type: 'elmo_tasks_new_task',
    text_field_embedder: {
      token_embedders: {
        tokens: {
          type: 'elmo_tasks_word_vectors',
          pretrained_file: corpus + '/vectors/w2v.100d.txt.gz',
          embedding_dim: 100,
          trainable: false,
          keep_all_pretrained: true,
        },
      },
    },
    word_vectors: true,
    encoder: { type: 'elmo_tasks_stacked_lstm', hidden_sizes: [50] },
  },
  data_loader: { batch_size: 16, shuffle: true },
  validation_data_loader: { batch_size: 64, shuffle: false },
  trainer: {
    type: 'elmo_tasks',
    num_epochs: 10,
    validation_metric: '+accuracy',
    optimizer: { type: 'adam', lr: 1e-3 },
    grad_norm: 5.0,
    checkpointer: { keep_most_recent_by_count: 2 },
    run_confidence_checks: false,
  },
}
