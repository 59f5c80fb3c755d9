// expected: model.elmo.weight_file: expected an existing file, got nothing at /nowhere/weights.hdf5 (
// expected: model.text_field_embedder.token_embedders.tokens.pretrained_file: expected an existing file, got nothing at $DATA/vectors/glove.txt (check the path
// expected: train_data_path: expected an existing file, got nothing at $DATA/snli/train.jsonl (check the path
local settings = import '../../../training_config/lib/settings.libsonnet';

(import '../../../training_config/snli_elmo.jsonnet') {
  train_data_path: settings.file('snli/train.jsonl'),
  model+: {
    elmo+: { weight_file: '/nowhere/weights.hdf5' },
    text_field_embedder+: { token_embedders+: { tokens+: { pretrained_file: settings.file('vectors/glove.txt') } } },
  },
}
