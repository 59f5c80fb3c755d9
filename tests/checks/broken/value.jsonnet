// expected: model: expected an object that can be built, got head_values must be one of embeddings, input
(import '../../../training_config/coref.jsonnet') { model+: { head_values: 'words' } }
