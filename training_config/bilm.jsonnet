import 'mini/bilm.jsonnet'
