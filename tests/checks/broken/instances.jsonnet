// expected: data_loader: expected a training step, got Sorting key "words" is not a field in instance. Available fields/keys are ['tokens', 'metadata', 'tags'].
(import '../../../training_config/ner.jsonnet') { data_loader+: { batch_sampler+: { sorting_keys: ['words'] } } }
