// Regexes that match no parameter.
// expected: model.regularizer.regexes.1.0: expected a regex that matches a parameter which no earlier regex matches, got "score_tags.*weight"
// expected: model.regularizer.regexes.2.0: expected a regex that matches a parameter of the model, got "lowest_layer.encoder"; nearest: lowest_layers.encoder.layers.1.bias_ih_l0
// expected: trainer.no_grad.1: expected a regex that matches a parameter of the model, got "^elmo"
// expected: trainer.optimizer.parameter_groups.0.0.1: expected a regex that matches a parameter of the model, got "crf_transitions"; nearest: crf.transitions
(import '../../../training_config/ner.jsonnet') {
  model+: {
    regularizer: {
      regexes: [
        ['score_tags', { type: 'l2', alpha: 0.01 }],
        ['score_tags.*weight', { type: 'l1', alpha: 0.01 }],
        ['lowest_layer.encoder', { type: 'l2', alpha: 0.01 }],
      ],
    },
  },
  trainer+: {
    no_grad: ['embedder', '^elmo'],
    optimizer+: { parameter_groups: [[['bias', 'crf_transitions'], { lr: 0.1 }]] },
  },
}
