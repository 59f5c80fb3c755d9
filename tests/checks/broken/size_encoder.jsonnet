// expected: model.encoder.input_size: wanted 144, the width of model.text_field_embedder and model.elmo together, found 7
// expected: trainer.num_epoch: wanted a key of GradientDescentTrainer, found the unknown key num_epoch; nearest: num_epochs
(import '../../../training_config/ner_elmo.jsonnet') {
  model+: { encoder+: { input_size: 7 } },
  trainer+: { type: 'gradient_descent', num_epoch: 3 },
}
