// Parts of speech of the synthetic corpus: the second of the NER file's columns.
local ner = import 'ner.jsonnet';

(import 'paper/tagger.jsonnet') {
  dataset_reader+: { tag: 1 },
  train_data_path: ner.train_data_path,
  validation_data_path: ner.validation_data_path,
  model+: {
    text_field_embedder+: { token_embedders+: { token_characters+: { encoder+: { num_filters: 32 } } } },
    encoder+: ner.model.encoder,
  },
  data_loader+: { batch_sampler+: { batch_size: 16 } },
  trainer+: {
    num_epochs: 20,
    optimizer+: { lr: 2e-3 },
    learning_rate_scheduler: { type: 'linear_with_warmup', warmup_steps: 50 },
  },
}
