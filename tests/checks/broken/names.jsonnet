// Registered names that nobody registered.
// expected: dataset_reader.type: wanted the name of a DatasetReader, found "elmo_task_ner"; nearest: elmo_tasks_ner
// expected: evaluation.type: wanted the name of an Evaluator (elmo_tasks_coref, elmo_tasks_squad, elmo_tasks_srl, simple), found "official"
// expected: model.encoder.type: wanted the name of a Seq2SeqEncoder, found "elmo_tasks_stack_lstm"; nearest: elmo_tasks_stacked_lstm
// expected: model.text_field_embedder.token_embedders.token_characters.encoder.type: wanted the name of a Seq2VecEncoder, found "cnm"; nearest: cnn
// expected: trainer.learning_rate_scheduler.type: wanted the name of a LearningRateScheduler, found "reduce_on_platau"; nearest: reduce_on_plateau
// expected: trainer.optimizer.type: wanted the name of an Optimizer, found "adan"; nearest: adam
(import '../../../training_config/ner.jsonnet') {
  dataset_reader: { type: 'elmo_task_ner' },
  evaluation: { type: 'official' },
  model+: {
    encoder+: { type: 'elmo_tasks_stack_lstm' },
    text_field_embedder+: { token_embedders+: { token_characters+: { encoder+: { type: 'cnm' } } } },
  },
  trainer+: { optimizer: { type: 'adan' }, learning_rate_scheduler: { type: 'reduce_on_platau' } },
}
