// Table 7 (A.1): the biLM's perplexity on a task's dev data before and after one epoch on its training data, and what
// the tuned biLM does for the task's score. Foreign biLMs have no softmax file and so no perplexity before.
//
// Departures from the paper: SQuAD's contexts and questions, which it lists apart, are two rows here, too, each with a
// biLM tuned on it alone. CoNLL-2012 is read as for coreference. A tuned biLM is made once, with seed 1. Perplexities are
// geometric means of both directions, as the authors' program prints; the paper speaks of the average.
// Command: elmo-tasks ablate finetuning -s out/finetuning --seeds 3
local rows = import 'rows.libsonnet';
local a1 = rows.published['Section A.1'];

// `paper`: the row of its Table 7.
local tuned(task, name, row_label, fields, paper) =
  local row = rows.tuned_bilm(name + '-lm', task, fields) { row_label: row_label };
  local of_paper = rows.published['Table 7'][paper];
  [
    row { name: name + '-lm-before', column: 'perplexity before', metric: 'perplexity_before', paper: of_paper.before },
    row { column: 'after', metric: 'perplexity', paper: of_paper.after },
  ];

local effect(task, bilm, without, with) = [
  rows.untuned(task, 'score, biLM as it was') { paper: without },
  rows.untuned(task, 'score, tuned biLM') { name: task + '-tuned', bilm_of: bilm, paper: with },
];

{
  title: 'Table 7: fine-tuning the biLM',
  about: 'Dev data; perplexity is the geometric mean of both directions. ' + rows.caps,
  increase: 'score, biLM as it was',
  rows: std.flattenArrays([
          tuned('snli', 'snli', 'SNLI', ['premise', 'hypothesis'], 'SNLI'),
          tuned('coref', 'coref', 'Coref', ['text'], 'CoNLL 2012 (coref/SRL)'),
          tuned('ner', 'ner', 'NER', ['tokens'], 'CoNLL 2003 (NER)'),
          tuned('squad', 'contexts', 'SQuAD, contexts', ['passage'], 'SQuAD, Context'),
          tuned('squad', 'questions', 'SQuAD, questions', ['question'], 'SQuAD, Questions'),
          tuned('sst', 'sst', 'SST-5', ['tokens'], 'SST'),
        ])
        + effect('snli', 'snli-lm', a1.SNLI.untuned, a1.SNLI.tuned)
        + effect('squad', 'contexts-lm', null, rows.published['Table 3'].SQuAD['input and output'])
        + effect('sst', 'sst-lm', a1.SST.untuned, a1.SST.tuned),
}
