// Knobs that do nothing.
// expected: evaluate_on_test: wanted no value without test_data_path, found true, which does nothing
// expected: model.elmo.cache_limit_gb: wanted no value without model.elmo.cache_dir, found 3, which does nothing
// expected: model.encoder.dropout: wanted no value where num_layers is 1: dropout is between layers alone, found 0.5, which does nothing
// expected: trainer.grad_scaling: wanted no value without trainer.use_amp, found true, which does nothing
// expected: trainer.optimizer.parameter_groups.0.1.lr: wanted no value beside requires_grad: false, found 0.1, which does nothing
// expected: trainer.patience: wanted a number below num_epochs, 30: it would never stop early, found 40, which does nothing
(import '../../../training_config/ner_elmo.jsonnet') {
  evaluate_on_test: true,
  model+: { elmo+: { cache_limit_gb: 3 }, encoder: { type: 'lstm', hidden_size: 4, dropout: 0.5 } },
  trainer+: {
    patience: 40,
    grad_scaling: true,
    optimizer+: { parameter_groups: [[['^crf'], { requires_grad: false, lr: 0.1 }]] },
  },
}
