// expected: model.regularizer.regexes.0.0: wanted a regex, found "(": missing ), unterminated subpattern at position 0
// expected: trainer.no_grad.1: wanted a regex, found "*": nothing to repeat at position 0
// expected: trainer.optimizer.parameter_groups.0.0.1: wanted a regex, found "[": unterminated character set at position 0
(import '../../../training_config/ner.jsonnet') {
  model+: { regularizer: { regexes: [['(', { type: 'l2' }]] } },
  trainer+: { no_grad: ['a', '*'], optimizer+: { parameter_groups: [[['b', '['], { lr: 0.1 }]] } },
}
