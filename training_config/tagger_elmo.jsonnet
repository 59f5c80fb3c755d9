import 'mini/tagger_elmo.jsonnet'
