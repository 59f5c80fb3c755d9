// Keys that nothing reads, also where **kwargs takes them.
// expected: data_loader.batch_sampler.sorting_key: wanted a key of BucketBatchSampler, found the unknown key sorting_key; nearest: sorting_keys
// expected: dataset_reader.max_instance: wanted a key of NerReader, found the unknown key max_instance; nearest: max_instances
// expected: model.elmo.layernorm: wanted a key of ElmoTokenEmbedder, found the unknown key layernorm; nearest: layer_norm
// expected: model.text_field_embedder.token_embedders.token_characters.encoder.num_filter: wanted a key of CnnEncoder, found the unknown key num_filter; nearest: num_filters
// expected: model.word_vector: wanted a key of NerTagger, found the unknown key word_vector; nearest: word_vectors
// expected: random_sed: wanted a key of TrainModel, found the unknown key random_sed; nearest: random_seed
// expected: trainer.callbacks.0.evry: wanted a key of LmProgress, found the unknown key evry; nearest: every
// expected: trainer.checkpointer.keep: wanted a key of Checkpointer (keep_most_recent_by_age, keep_most_recent_by_count, save_completed_epochs, save_every_num_batches, save_every_num_seconds, type), found the unknown key keep
// expected: trainer.num_epoch: wanted a key of GradientDescentTrainer, found the unknown key num_epoch; nearest: num_epochs
// expected: trainer.optimizer.parameter_groups.0.1.weight_deacy: wanted a key of AdamOptimizer, found the unknown key weight_deacy; nearest: weight_decay
// expected: trainer.patiance: wanted a key of GradientDescentTrainer, found the unknown key patiance; nearest: patience
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
    optimizer+: { parameter_groups: [[['score_tags'], { weight_deacy: 0.1 }]] },
  },
}
