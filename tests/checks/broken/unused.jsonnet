// Keys without effect.
// expected: evaluate_on_test: expected no value without test_data_path, got true, which has no effect
// expected: model.elmo.cache_limit_gb: expected no value without model.elmo.cache_dir, got 3, which has no effect
// expected: model.encoder.dropout: expected no value if num_layers is 1, got 0.5, which has no effect
// expected: trainer.grad_scaling: expected no value without trainer.use_amp, got true, which has no effect
// expected: trainer.patience: expected a number below num_epochs, 30, got 40, which has no effect
(import '../../../training_config/ner_elmo.jsonnet') {
  evaluate_on_test: true,
  model+: { elmo+: { cache_limit_gb: 3 }, encoder: { type: 'lstm', hidden_size: 4, dropout: 0.5 } },
  trainer+: {
    patience: 40,
    grad_scaling: true,
  },
}
