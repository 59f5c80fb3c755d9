import 'mini/srl.jsonnet'
