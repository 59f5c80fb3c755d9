// Problems that the embedder of ELMo reports itself.
// expected: model.elmo.at: expected one of input, output, both, got "imput"
// expected: model.elmo.cache_dir: expected null
// expected: model.elmo.mix: expected one of weighted, last, layer:k, got "top"
// expected: model.elmo.weight_file: expected a path or URL, got null
(import '../../../training_config/ner.jsonnet') {
  model+: { elmo: { options_file: (import '../../../training_config/fixtures.libsonnet') + '/bilm/options.json', at: 'imput', mix: 'top', state: 'carry', cache_dir: 'layers' } },
}
