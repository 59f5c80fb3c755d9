// expected: model.encoder.input_size: wanted 6, the width that model.text_field_embedder has, found 8
(import 'tagger.libsonnet') { model+: { encoder+: { input_size: 8 } } }
