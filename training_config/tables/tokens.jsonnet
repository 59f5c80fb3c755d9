// What a biLM gains on NER, SST and SNLI by the number of tokens that it was trained on. Dev data. Each column is a biLM
// that `elmo-tasks bilm export` wrote; a column whose folder is missing is not run.
// Command: elmo-tasks ablate tokens -s out/tokens --seeds 3
//   Other biLMs, by their columns and folders in ascending order, in a file of your own:
//   (import 'training_config/tables/tokens.jsonnet') { exports:: [['4 M', 'out/4M'], ['15 M', 'out/15M']] }
local rows = import 'rows.libsonnet';

{
  local known = ['about', 'exports', 'increase', 'rows', 'title'],
  assert std.objectFieldsAll(self) == known : 'expected the fields ' + std.join(', ', known),
  assert rows.are_pairs(self.exports) : 'expected pairs in `exports`, such as [["15 M", "out/15M"]]',
  // Columns and folders of exported biLMs. By default, four stages of one training.
  exports:: [[millions + ' M', rows.data + '/bilms/' + millions + 'M'] for millions in ['4', '15', '31', '59']],

  local with(task, column, folder) = rows.untuned(task, column) {
    name: task + '-' + std.strReplace(column, ' ', ''),
    changes: { 'model.elmo.model': folder },
    needs: [folder],
  },

  title: 'What a biLM gains by the tokens that it was trained on',
  about: 'Dev data. Columns: millions of tokens that the biLM was trained on, in each direction. ' + rows.caps,
  increase: 'baseline',
  rows: std.flattenArrays([
    [rows.baseline(task)] + [with(task, one[0], one[1]) for one in $.exports]
    for task in ['ner', 'sst', 'snli']
  ]),
}
