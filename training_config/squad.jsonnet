import 'mini/squad.jsonnet'
