// Unknown registered names.
// expected: dataset_reader.type: expected the name of a DatasetReader, got "elmo_task_ner"; nearest: elmo_tasks_ner
// expected: evaluation.type: expected the name of an Evaluator (elmo_tasks_coref, elmo_tasks_squad, elmo_tasks_srl, simple; --include-package registers more), got "official"
// expected: model.encoder.type: expected the name of a Seq2SeqEncoder, got "elmo_tasks_stack_lstm"; nearest: elmo_tasks_stacked_lstm
// expected: model.text_field_embedder.token_embedders.token_characters.encoder.type: expected the name of a Seq2VecEncoder, got "cnm"; nearest: cnn
// expected: trainer.learning_rate_scheduler.type: expected the name of a LearningRateScheduler, got "reduce_on_platau"; nearest: reduce_on_plateau
// expected: trainer.optimizer.type: expected the name of an Optimizer, got "adan"; nearest: adam
(import '../../../training_config/ner.jsonnet') {
  dataset_reader: { type: 'elmo_task_ner' },
  evaluation: { type: 'official' },
  model+: {
    encoder+: { type: 'elmo_tasks_stack_lstm' },
    text_field_embedder+: { token_embedders+: { token_characters+: { encoder+: { type: 'cnm' } } } },
  },
  trainer+: { optimizer: { type: 'adan' }, learning_rate_scheduler: { type: 'reduce_on_platau' } },
}
