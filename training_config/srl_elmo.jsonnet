import 'mini/srl_elmo.jsonnet'
