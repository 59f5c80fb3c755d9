// expected: model: wanted something that can be built, found head_values must be one of embeddings, input, found 'words'
(import '../../../training_config/coref.jsonnet') { model+: { head_values: 'words' } }
