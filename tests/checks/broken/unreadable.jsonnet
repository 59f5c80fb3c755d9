// expected: config: expected a readable config, got unknown knob
(import '../../../training_config/ner.jsonnet') { num_epoch:: 3 }
