// expected: model.initializer.regexes.1.0: wanted a regex that matches a parameter of the model, found "projection_layers.*weight"; nearest: tag_projection_layer._module.weight
// expected: trainer.validation_metric: wanted a metric of the model, found "+acuracy"; nearest: accuracy
// expected: vocabulary.max_vocab_size.token: wanted a namespace of the vocabulary (labels, tokens), found "token", which does nothing
(import 'tagger.libsonnet') {
  vocabulary: { max_vocab_size: { token: 9 } },
  model+: {
    initializer: { regexes: [['encoder.*weight', 'orthogonal'], ['projection_layers.*weight', { type: 'xavier_normal' }]] },
  },
  trainer+: { validation_metric: '+acuracy' },
}
