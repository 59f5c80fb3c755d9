// expected: config: expected a readable config, got unknown hidden field
(import '../../../training_config/ner.jsonnet') { num_epoch:: 3 }
