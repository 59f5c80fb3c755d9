import 'mini/coref.jsonnet'
