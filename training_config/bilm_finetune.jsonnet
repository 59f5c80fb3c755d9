// Fine-tuning of the bundled biLM on the synthetic corpus's SNLI. Two minutes on one CPU core.
local corpus = (import 'fixtures.libsonnet') + '/miniworld';

(import 'small/bilm_finetune.jsonnet') {
  train_data_path: corpus + '/snli/snli_1.0_train.jsonl',
  validation_data_path: corpus + '/snli/snli_1.0_dev.jsonl',
  data_loader+: { batch_size: 8 },
}
