// Which frozen encoder, and which of its layers: nothing, the biLM, CoVe and transformers in the six models, at the
// places that the paper uses, with all layers (lambda as in each task's config) or the last one. Dev data.
// Command: allennlp ablate training_config/ablations/encoders.jsonnet -s out/encoders --seeds 3
//   Other transformers, by the names of their columns and their folders, in a file of your own:
//   (import 'training_config/ablations/encoders.jsonnet') { models:: { BERT: 'models/bert', 'GPT-2': 'models/gpt2' } }
local ablation = import '../lib/ablation.libsonnet';
local hidden_fields = import '../lib/hidden_fields.libsonnet';
local settings = import '../lib/settings.libsonnet';

local cove_files = {
  'model.elmo.vectors_file': settings.file('vectors/glove.840B.300d.txt'),
  'model.elmo.weight_file': settings.file('cove/wmtlstm-8f474287.pth'),
};
local cove = {
  changes: cove_files { 'model.elmo.source': 'cove', 'model.elmo.options_file': null },
  needs: std.objectValues(cove_files),
};
local transformer(folder) = {
  changes: { 'model.elmo.source': 'transformer', 'model.elmo.model': folder },
  needs: [folder],
};
local slug(name) = std.asciiLower(std.strReplace(name, ' ', '-'));

hidden_fields.checked({
  // Names and folders of transformers.
  models:: { transformer: settings.file('encoders/transformer') },

  local sources = { biLM: { changes: {} }, CoVe: cove } + std.mapWithKey(function(_, folder) transformer(folder), $.models),
  local names = ['biLM', 'CoVe'] + std.objectFields($.models),
  local with(task, name, mix, changes) = ablation.untuned(task, name + ', ' + mix) + sources[name] {
    name: '%s-%s-%s' % [task, slug(name), mix],
    changes+: changes,
  },

  title: 'Encoders: which frozen layers a task should take',
  about: 'Dev data. ' + ablation.caps,
  increase: { over: 'baseline' },
  rows: std.flattenArrays([
    [ablation.baseline(task)] + std.flattenArrays([
      [with(task, name, 'weighted', {}), with(task, name, 'last', ablation.only('last'))]
      for name in names
    ])
    for task in ['squad', 'snli', 'srl', 'coref', 'ner', 'sst']
  ]),
})
