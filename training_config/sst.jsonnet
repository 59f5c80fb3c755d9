import 'mini/sst.jsonnet'
