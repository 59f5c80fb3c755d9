// What word vectors add to ELMo, and what the biLM's character layer has without its LSTMs (sections 5.6 and 5.7 of the
// version at NAACL 2018). Dev data. The paper's numbers are the few that are at hand. At `paper`, SQuAD and SNLI read a biLM
// that is tuned on their training data first (A.1).
// Command: elmo-tasks ablate wordvectors -s out/wordvectors --seeds 3
//   Static ELMo, in a file of your own, with the vectors of `elmo-tasks static`:
//   (import 'training_config/tables/wordvectors.jsonnet') { static:: { file: 'static.txt.gz', dimensions: 100 } }
local rows = import 'rows.libsonnet';

// ELMo's vectors averaged over the contexts of each word, in place of the word vectors.
local tokens = 'model.text_field_embedder.token_embedders.tokens';
local static(name, vectors) = rows.baseline(name) {
  name: name + '-static',
  column: 'static ELMo',
  changes: {
    [tokens + '.pretrained_file']: vectors.file,
    [tokens + '.embedding_dim']: vectors.dimensions,
    // The file is compressed: all its vectors are kept, and none is looked up.
    [tokens + '.keep_all_pretrained']: true,
    [tokens + '.lookup_file']: null,
    'dataset_reader.lookup_files': null,
    [if name == 'sst' then 'validation_dataset_reader.lookup_files']: null,
  },
};

local task(name, words, characters, alone, both) = [
  rows.baseline(name) { column: 'word vectors', paper: words },
  // The character layer takes the place of the word vectors: at the input.
  rows.elmo(name, 'character layer') {
    name: name + '-characters',
    changes: rows.only('layer:0') { 'model.elmo.at': 'input', 'model.word_vectors': false },
    paper: characters,
  },
  rows.elmo(name, 'ELMo alone') {
    name: name + '-elmo-alone',
    changes: { 'model.word_vectors': false },
    paper: alone,
  },
  rows.elmo(name, 'both') { paper: both },
];

{
  // The file and the width of static vectors, if there are any.
  static:: null,
  title: 'Word vectors and characters',
  about: 'Dev data. ' + rows.caps,
  increase: 'word vectors',
  rows: rows.tuning(['squad', 'snli'])
        + task('squad', 80.8, 81.4, null, 85.6)
        + task('snli', 88.1, null, null, 89.5)
        + task('srl', 81.6, null, 84.5, 84.7)
        + task('ner', null, null, null, null)
        + task('sst', null, null, null, null)
        + (if $.static == null then [] else [static(name, $.static) for name in ['snli', 'ner', 'sst']]),
}
