// Values of a wrong type, or out of range.
// expected: data_loader.batch_sampler.sorting_keys: expected List[str], got "tokens"
// expected: dataset_reader.min_phrase_length: expected an integer of at least 1 or null, got "five"
// expected: model.elmo: expected an object (ElmoTokenEmbedder), got true
// expected: model.encoder.hidden_sizes.0: expected an integer of at least 1, got 2.5
// expected: model.input_dropout: expected a number of at least 0 and below 1, got "x"
// expected: model.pooled_dropout: expected a number of at least 0 and below 1, got 1.5
// expected: model.text_field_embedder.token_embedders.tokens.trainable: expected true or false, got "no"
// expected: trainer.optimizer.betas: expected a list of 2 values, got [0.9]
// expected: trainer.optimizer.lr: expected a number of at least 0, got "1e-3"
// expected: trainer.validation_metric: expected a string or a list, got 3
(import '../../../training_config/sst.jsonnet') {
  dataset_reader+: { min_phrase_length: 'five' },
  model+: {
    elmo: true,
    input_dropout: 'x',
    pooled_dropout: 1.5,
    encoder+: { hidden_sizes: [2.5] },
    text_field_embedder+: { token_embedders+: { tokens+: { trainable: 'no' } } },
  },
  data_loader+: { batch_sampler+: { sorting_keys: 'tokens' } },
  trainer+: { optimizer: { type: 'adam', lr: '1e-3', betas: [0.9] }, validation_metric: 3 },
}
