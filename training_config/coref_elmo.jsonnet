import 'mini/coref_elmo.jsonnet'
