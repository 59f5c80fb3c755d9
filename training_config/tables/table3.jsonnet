// Table 3 (section 5.2): ELMo at the input of the lowest encoder, at its output, or at both. Dev data. Coreference is
// in the text alone: at the output, too, it loses some 0.7 of 70.4 on test data (A.6). At `paper`, SQuAD and SNLI read a
// biLM that is tuned on their training data first (A.1).
// Command: elmo-tasks ablate table3 -s out/table3 --seeds 3
local rows = import 'rows.libsonnet';

local columns = { input: 'input only', both: 'input and output', output: 'output only' };

local at(task, place, paper) = rows.elmo(task, columns[place]) {
  name: task + '-' + place,
  changes: { 'model.elmo.at': place },
  paper: paper,
};

{
  title: 'Table 3: where ELMo stands',
  about: 'Dev data; the paper’s numbers for coreference are of test data. ' + rows.caps,
  increase: { over: 'input only' },
  rows: rows.tuning(['squad', 'snli'])
        + [at('squad', 'input', 85.1), at('squad', 'both', 85.6), at('squad', 'output', 84.8)]
        + [at('snli', 'input', 88.9), at('snli', 'both', 89.5), at('snli', 'output', 88.7)]
        + [at('srl', 'input', 84.7), at('srl', 'both', 84.3), at('srl', 'output', 80.9)]
        + [at('coref', 'input', 70.4) { paper_split: 'test' }, at('coref', 'both', 69.7) { paper_split: 'test' }],
}
