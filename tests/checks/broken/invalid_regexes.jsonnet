// expected: model.regularizer.regexes.0.0: expected a regex, got "(": missing ), unterminated subpattern at position 0
// expected: trainer.no_grad.1: expected a regex, got "*": nothing to repeat at position 0
// expected: trainer.optimizer.parameter_groups.0.0.1: expected a regex, got "[": unterminated character set at position 0
(import '../../../training_config/ner.jsonnet') {
  model+: { regularizer: { regexes: [['(', { type: 'l2' }]] } },
  trainer+: { no_grad: ['a', '*'], optimizer+: { parameter_groups: [[['b', '['], { lr: 0.1 }]] } },
}
