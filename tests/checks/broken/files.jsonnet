// expected: model.elmo.weight_file: expected an existing file, got nothing at /nowhere/weights.hdf5 (
// expected: model.text_field_embedder.token_embedders.tokens.pretrained_file: expected an existing file, got nothing at $DATA/vectors/glove.txt (check the path
// expected: train_data_path: expected an existing file, got nothing at $DATA/snli/train.jsonl (check the path
local data = std.extVar('ELMO_TASKS_DATA');

(import '../../../training_config/small/snli_elmo.jsonnet') {
  train_data_path: data + '/snli/train.jsonl',
  validation_data_path: data + '/snli/snli_1.0_dev.jsonl',
  model+: {
    elmo+: { weight_file: '/nowhere/weights.hdf5' },
    text_field_embedder+: { token_embedders+: { tokens+: { pretrained_file: data + '/vectors/glove.txt' } } },
  },
}
