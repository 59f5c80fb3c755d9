import 'mini/ner.jsonnet'
