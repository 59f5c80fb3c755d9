import 'mini/squad_elmo.jsonnet'
