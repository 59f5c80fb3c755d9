// What the biLM's embedder says of its own keys.
// expected: model.elmo.weight_file: wanted a path or URL, found null
// expected: model.elmo.at: wanted one of input, output, both, found "imput"
// expected: model.elmo.cache_dir: wanted null where state is carry: vectors then depend on other sentences, found "layers"
// expected: model.elmo.mix: wanted one of weighted, last, layer:k, found "top"
(import '../../../training_config/ner.jsonnet') {
  local bilm = (import '../../../training_config/lib/settings.libsonnet').bilm,
  model+: { elmo: { options_file: bilm.options_file, at: 'imput', mix: 'top', state: 'carry', cache_dir: 'layers' } },
}
