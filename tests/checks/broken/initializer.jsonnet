// expected: model.initializer.regexes.1.0: expected a regex that matches a parameter of the model, got "projection_layers.*weight"; nearest: tag_projection_layer._module.weight
// expected: trainer.validation_metric: expected a metric of the model, got "+acuracy"; nearest: accuracy
(import 'tagger.libsonnet') {
  model+: {
    initializer: { regexes: [['encoder.*weight', 'orthogonal'], ['projection_layers.*weight', { type: 'xavier_normal' }]] },
  },
  trainer+: { validation_metric: '+acuracy' },
}
