// Which frozen encoder, and which of its layers: nothing, the biLM, CoVe and transformers in the six models, at
// the places that the paper uses, with all layers (lambda as in each task's config) or the last one. Dev data.
// Command: elmo-tasks ablate encoders -s out/encoders --seeds 3
//   Other transformers, by the names of their columns and their folders, in a file of your own:
//   (import 'training_config/tables/encoders.jsonnet') { models:: { BERT: 'models/bert', 'GPT-2': 'models/gpt2' } }
local rows = import 'rows.libsonnet';

local transformer(folder) = {
  changes: { 'model.elmo.source': 'transformer', 'model.elmo.model': folder },
  needs: [folder],
};
local slug(name) = std.asciiLower(std.strReplace(name, ' ', '-'));

{
  local known = ['about', 'increase', 'models', 'rows', 'title'],
  assert std.objectFieldsAll(self) == known : 'expected the fields ' + std.join(', ', known),
  // Names and folders of transformers.
  models:: { transformer: rows.data + '/encoders/transformer' },

  local sources = { biLM: { changes: {} }, CoVe: rows.cove } + std.mapWithKey(function(_, folder) transformer(folder), $.models),
  local names = ['biLM', 'CoVe'] + std.objectFields($.models),
  local with(task, name, mix, changes) = rows.untuned(task, name + ', ' + mix) + sources[name] {
    name: '%s-%s-%s' % [task, slug(name), mix],
    changes+: changes,
  },

  title: 'Encoders: which frozen layers a task should take',
  about: 'Dev data. ' + rows.caps,
  increase: 'baseline',
  rows: std.flattenArrays([
    [rows.baseline(task)] + std.flattenArrays([
      [with(task, name, 'weighted', {}), with(task, name, 'last', rows.only('last'))]
      for name in names
    ])
    for task in rows.names
  ]),
}
