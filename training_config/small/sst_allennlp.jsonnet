// ../paper/sst_allennlp.jsonnet on the scale of sst_elmo.jsonnet.
local allennlp = import '../paper/sst_allennlp.jsonnet';

(import 'sst_elmo.jsonnet') {
  dataset_reader: allennlp.dataset_reader { lookup_files: null },
  model+: {
    elmo+: { at: 'input', l2: null, dropout: 0.0 },
    head+: { type: allennlp.model.head.type, dropout: allennlp.model.head.dropout },
  },
}
