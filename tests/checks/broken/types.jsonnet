// Values of a wrong type, or out of range.
// expected: data_loader.batch_sampler.batch_size: wanted a whole number of at least 1, found 0
// expected: data_loader.batch_sampler.sorting_keys: wanted a list, each part a string, found "tokens"
// expected: dataset_reader.classes: wanted a whole number, found "five"
// expected: model.elmo: wanted an object (ElmoTokenEmbedder), found true
// expected: model.encoder.hidden_sizes.0: wanted a whole number, found 2.5
// expected: model.head: wanted an object (Head), found null
// expected: model.input_dropout: wanted a number, found "x"
// expected: model.pooled_dropout: wanted a number from 0 up to, not including, 1, found 1.5
// expected: model.text_field_embedder.token_embedders.tokens.trainable: wanted true or false, found "no"
// expected: trainer.num_epochs: wanted a whole number, found null
// expected: trainer.optimizer.betas: wanted a list of 2, found [0.9]
// expected: trainer.optimizer.lr: wanted a number, found "1e-3"
// expected: trainer.validation_metric: wanted a string or a list, each part a string, found 3
(import '../../../training_config/sst.jsonnet') {
  dataset_reader+: { classes: 'five' },
  model+: {
    elmo: true,
    head: null,
    input_dropout: 'x',
    pooled_dropout: 1.5,
    encoder+: { hidden_sizes: [2.5] },
    text_field_embedder+: { token_embedders+: { tokens+: { trainable: 'no' } } },
  },
  data_loader+: { batch_sampler+: { batch_size: 0, sorting_keys: 'tokens' } },
  trainer+: { num_epochs: null, optimizer: { type: 'adam', lr: '1e-3', betas: [0.9] }, validation_metric: 3 },
}
