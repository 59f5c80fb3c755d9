// expected: model.encoder.input_size: wanted 6, the width of model.text_field_embedder, found 8
(import 'tagger.libsonnet') { model+: { encoder+: { input_size: 8 } } }
