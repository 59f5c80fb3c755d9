// A tagger for column data of your own, without ELMo: ner.jsonnet with learned word vectors and a softmax for each word;
// "model.crf": true adds a CRF. The paper has no such task; expected accuracy and other columns: the page PRETRAIN.
// Command: elmo-tasks train training_config/paper/tagger.jsonnet -s out/tagger
local data = std.extVar('ELMO_TASKS_DATA');

(import 'ner.jsonnet') {
  dataset_reader: { type: 'elmo_tasks_tagger', tag: 'upos' },
  train_data_path: data + '/tagger/train.conllu',
  validation_data_path: data + '/tagger/dev.conllu',
  model+: {
    type: 'elmo_tasks_tagger',
    text_field_embedder+: {
      token_embedders+: { tokens: { type: 'elmo_tasks_word_vectors', embedding_dim: 100, trainable: true } },
    },
  },
  data_loader+: { batch_sampler+: { batch_size: 32 } },
  trainer+: { num_epochs: 30, patience: null, validation_metric: '+accuracy' },
}
