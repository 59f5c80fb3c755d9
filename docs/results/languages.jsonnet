// Taggers of Latin and Telugu with no biLM, an untrained, the English and their own (languages.jsonl).
local rows = import '../../training_config/tables/rows.libsonnet';
local data = std.extVar('ELMO_TASKS_DATA') + '/languages/';

local row(language, column, config, changes) = {
  name: std.asciiLower(language) + '-' + std.strReplace(column, ' ', '-'),
  row_label: language,
  column: column,
  config: config,
  metric: 'accuracy',
  changes: changes {
    train_data_path: data + std.asciiLower(language) + '/pos/train.conllu',
    validation_data_path: data + std.asciiLower(language) + '/pos/dev.conllu',
    'dataset_reader.tag': 'upos',
    'trainer.num_epochs': 15,
  },
};

{
  title: 'Parts of speech, other languages',
  increase: 'baseline',
  rows: [
    one
    for language in ['Latin', 'Telugu']
    for one in [
      row(language, 'baseline', 'tagger', {}),
      row(language, 'untrained', 'tagger_elmo', { 'model.elmo.model': 'out/untrained' }),
      row(language, 'English biLM', 'tagger_elmo', {}),
      row(language, 'own biLM', 'tagger_elmo', { 'model.elmo.model': 'out/' + std.asciiLower(language) }),
      row(language, 'own biLM with resets', 'tagger_elmo', { 'model.elmo.model': 'out/' + std.asciiLower(language) + '-resets' }),
      row(language, 'own biLM with more resets', 'tagger_elmo', { 'model.elmo.model': 'out/' + std.asciiLower(language) + '-more-resets' }),
    ]
  ],
}
