// expected: config: expected a readable config, got 
(import '../../../training_config/ner.jsonnet') { model+: super.modell }
