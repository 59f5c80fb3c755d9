import 'mini/bilm_finetune.jsonnet'
