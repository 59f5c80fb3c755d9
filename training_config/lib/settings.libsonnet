// What every config reads: the scale of the run, the root of its data, the biLM of that scale.
// The three variables come from the environment; the plugin sets those that the user left out.
local scale = std.extVar('ELMO_TASKS_SCALE');
local data = std.extVar('ELMO_TASKS_DATA');
local fixtures = std.extVar('ELMO_TASKS_FIXTURES');
local official = std.parseJson(std.extVar('ELMO_TASKS_NAMES'));
local scales = ['mini', 'small', 'paper'];

{
  assert std.member(scales, scale) :
         'ELMO_TASKS_SCALE must be one of ' + std.join(', ', scales) + ', not "' + scale + '"',
  assert data != '' :
         'ELMO_TASKS_DATA is not set: at scale "' + scale + '" it must name the folder that holds the '
         + 'corpora under their official names (squad/train-v1.1.json, ner/eng.train, '
         + 'lm/train.*.txt, ...); ELMO_TASKS_SCALE=mini needs nothing',

  scale: scale,

  // The value for this scale, of an object with the keys mini, small and paper.
  choose(values)::
    if std.objectHas(values, scale) then values[scale]
    else error 'no value for scale "' + scale + '", only for ' + std.join(', ', std.objectFields(values)),

  // A corpus file below the data root; under its name in the official release where only that exists.
  file(name):: data + '/' + std.get(official, name, name),

  // Whether an optional corpus file is there.
  has(name):: std.objectHas(official, name),

  // A file that ships with the project.
  fixture(name):: fixtures + '/' + name,

  // The official-format files of this scale's biLM.
  bilm_folder:: if scale == 'paper' then data + '/bilm' else fixtures + '/bilm',
  local bilm_file(name) = if scale == 'paper' then $.file('bilm/' + name) else $.bilm_folder + '/' + name,
  bilm:: {
    options_file: bilm_file('options.json'),
    weight_file: bilm_file('weights.hdf5'),
  },
  // Whether its softmax is in that folder, with those two files under these names.
  has_softmax:: scale != 'paper' || $.has('bilm/softmax.hdf5'),
  // The words of its softmax; the official biLM comes without the one and the other.
  bilm_vocabulary:: if scale == 'paper' then $.file('lm/vocab-2016-09-10.txt') else $.bilm_folder + '/vocabulary.txt',
}
