// A tagger for column data of your own, without ELMo: any language, any tags. Everything else is ner.jsonnet.
//
// Departures from the paper, appendix A.7 (tagging by a biLSTM): it has no such task. A softmax for each word;
//   "model.crf": true adds a CRF. Word vectors are learned, so that no file is needed; (import 'tagger.jsonnet')
//   { vectors:: { pretrained_file: ..., embedding_dim: ... } } takes the vectors of a file. 30 epochs, no early stopping.
//   mini: parts of speech of the synthetic corpus.
//
// Expected accuracy: docs/LANGUAGES.md.
// Command: allennlp train training_config/tagger.jsonnet -s out/tagger -o '{
//     "train_data_path": "train.conllu", "validation_data_path": "dev.conllu"}'
//   CoNLL-U: "dataset_reader.tag" is upos, xpos, lemma, deprel or a feature such as feats:Case.
//   Other columns: "dataset_reader.tag" and "dataset_reader.word" are numbers, counted from 0 or, if negative, from the
//   last. Spans in BIO and the like: "dataset_reader.spans": true, "model.spans": true and
//   "trainer.validation_metric": "+f1".
// Time: mini a minute; 1,200 sentences three minutes on one CPU core.
local settings = import 'lib/settings.libsonnet';

(import 'ner.jsonnet') {
  local is_mini = settings.scale == 'mini',
  train_file:: if is_mini then super.train_file else settings.file('tagger/train.conllu'),
  validation_file:: if is_mini then super.validation_file else settings.file('tagger/dev.conllu'),
  vectors:: { embedding_dim: 100 },
  batch_size:: settings.choose({ mini: 16, small: 32, paper: 32 }),
  num_epochs:: settings.choose({ mini: 20, small: 30, paper: 30 }),
  patience:: null,

  dataset_reader: { type: 'elmo_tasks_tagger', tag: if is_mini then 1 else 'upos' },
  model+: { type: 'elmo_tasks_tagger' },
  trainer+: { validation_metric: '+accuracy' },
}
