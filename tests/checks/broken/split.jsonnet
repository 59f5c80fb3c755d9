// expected: validation_data_path: expected validation data other than the test data, got the test file $DATA/ner/eng.testb
local settings = import '../../../training_config/lib/settings.libsonnet';

(import '../../../training_config/ner.jsonnet') { validation_data_path: settings.file('ner/eng.testb') }
