// expected: model: expected an object that can be built, got text field embedding dim must match encoder input dim, but got 6 and 8 instead
(import 'tagger.libsonnet') { model+: { encoder+: { input_size: 8 } } }
