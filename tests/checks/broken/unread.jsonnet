// expected: config: wanted a config that can be read, found unknown knob(s): num_epoch; known: $KNOBS
(import '../../../training_config/ner.jsonnet') { num_epoch:: 3 }
