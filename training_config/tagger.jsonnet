import 'mini/tagger.jsonnet'
