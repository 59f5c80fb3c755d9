// Unknown keys, also for constructors with **kwargs.
// expected: data_loader.batch_sampler.sorting_key: expected a key of BucketBatchSampler, got the unknown key sorting_key; nearest: sorting_keys
// expected: dataset_reader.max_instance: expected a key of NerReader, got the unknown key max_instance; nearest: max_instances
// expected: model.elmo.layernorm: expected a key of ElmoTokenEmbedder, got the unknown key layernorm; nearest: layer_norm
// expected: model.text_field_embedder.token_embedders.token_characters.encoder.num_filter: expected a key of PaddedCnn, got the unknown key num_filter; nearest: num_filters
// expected: model.word_vector: expected a key of NerTagger, got the unknown key word_vector; nearest: word_vectors
// expected: random_sed: expected a key of TrainModel, got the unknown key random_sed; nearest: random_seed
// expected: trainer.callbacks.0.evry: expected a key of LmProgress, got the unknown key evry; nearest: every
// expected: trainer.checkpointer.keep: expected a key of Checkpointer (keep_most_recent_by_age, keep_most_recent_by_count, save_
// expected: trainer.num_epoch: expected a key of GradientDescentTrainer, got the unknown key num_epoch; nearest: num_epochs
// expected: trainer.patiance: expected a key of GradientDescentTrainer, got the unknown key patiance; nearest: patience
(import '../../../training_config/ner_elmo.jsonnet') {
  random_sed: 3,
  dataset_reader+: { max_instance: 5 },
  model+: {
    word_vector: true,
    elmo+: { layernorm: false },
    text_field_embedder+: { token_embedders+: { token_characters+: { encoder+: { num_filter: 3 } } } },
  },
  data_loader+: { batch_sampler+: { sorting_key: 'tokens' } },
  trainer+: {
    type: 'gradient_descent',
    num_epoch: 3,
    patiance: 2,
    callbacks: [{ type: 'elmo_tasks_lm_progress', evry: 3 }],
    checkpointer+: { keep: 3 },
  },
}
