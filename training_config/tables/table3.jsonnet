// Table 3 (section 5.2): ELMo at the input of the lowest encoder, at its output, or at both. Dev data. Coreference is
// in the text alone: at the output, too, it loses some 0.7 of 70.4 on test data (A.6); its output alone is not in the
// paper. At `paper`, SQuAD and SNLI read a biLM that is tuned on their training data first (A.1).
// Command: elmo-tasks ablate table3 -s out/table3 --seeds 3
local rows = import 'rows.libsonnet';

local columns = { input: 'input only', both: 'input and output', output: 'output only' };

// `source`: the table or section of the paper that has the scores of this task.
local at(task, place, source) =
  local paper = rows.published[source][rows.tasks[task].row_label];
  rows.elmo(task, columns[place]) {
    name: task + '-' + place,
    changes: { 'model.elmo.at': place },
    [if std.objectHas(paper, columns[place]) then 'paper']: paper[columns[place]],
  };
local all_places(task) = [at(task, place, 'Table 3') for place in ['input', 'both', 'output']];
local coref = [at('coref', place, 'Section A.6') { paper_split: 'test' } for place in ['input', 'both', 'output']];

{
  title: 'Table 3: where ELMo stands',
  about: 'Dev data; the paper’s numbers for coreference are of test data. ' + rows.caps,
  increase: 'input only',
  rows: rows.tuning(['squad', 'snli'])
        + all_places('squad')
        + all_places('snli')
        + all_places('srl')
        + coref,
}
