// expected: model: expected an object that can be built, got expected head_values to be one of embeddings, input, got 'words'
(import '../../../training_config/coref.jsonnet') { model+: { head_values: 'words' } }
