import 'mini/snli.jsonnet'
