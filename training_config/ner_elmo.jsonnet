import 'mini/ner_elmo.jsonnet'
