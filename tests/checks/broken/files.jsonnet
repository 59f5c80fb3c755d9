// expected: model.elmo.weight_file: wanted a file that is there, found nothing at /nowhere/weights.hdf5 (check the path in the configuration or on the command line)
// expected: model.text_field_embedder.token_embedders.tokens.pretrained_file: wanted a file that is there, found nothing at $DATA/vectors/glove.txt (ELMO_TASKS_DATA is $DATA: the file belongs below it at vectors/glove.txt)
// expected: train_data_path: wanted a file that is there, found nothing at $DATA/snli/train.jsonl (ELMO_TASKS_DATA is $DATA: the file belongs below it at snli/train.jsonl; SNLI 1.0 is at https://nlp.stanford.edu/projects/snli/)
local settings = import '../../../training_config/lib/settings.libsonnet';

(import '../../../training_config/snli_elmo.jsonnet') {
  train_data_path: settings.file('snli/train.jsonl'),
  model+: {
    elmo+: { weight_file: '/nowhere/weights.hdf5' },
    text_field_embedder+: { token_embedders+: { tokens+: { pretrained_file: settings.file('vectors/glove.txt') } } },
  },
}
