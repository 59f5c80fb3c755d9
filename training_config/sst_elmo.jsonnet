import 'mini/sst_elmo.jsonnet'
