// expected: model.integrator.input_size: wanted 600, the width of what it reads, found 9
(import '../../../training_config/sst.jsonnet') { model+: { integrator+: { input_size: 9 } } }
