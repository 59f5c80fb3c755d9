// expected: validation_data_path: wanted another file than the one that is tested on, found the file of the test split, $DATA/ner/eng.testb
local settings = import '../../../training_config/lib/settings.libsonnet';

(import '../../../training_config/ner.jsonnet') { validation_data_path: settings.file('ner/eng.testb') }
