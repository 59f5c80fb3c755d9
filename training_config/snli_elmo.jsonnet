import 'mini/snli_elmo.jsonnet'
