// Table 7 (A.1): the biLM's perplexity on a task's dev data before and after one epoch on its training data, and what
// the tuned biLM does for the task's score. Foreign biLMs have no softmax file and so no perplexity before.
//
// Departures from the paper: SQuAD's contexts and questions, which it lists apart, are two rows here, too, each with a
// biLM tuned on it alone. CoNLL-2012 is read as for coreference. A tuned biLM is made once, with seed 1. Perplexities are
// geometric means of both directions, as the authors' program prints; the paper speaks of the average.
// Command: elmo-tasks ablate finetuning -s out/finetuning --seeds 3
local rows = import 'rows.libsonnet';

local tuned(task, name, row_label, fields, before, after) = rows.tuned_bilm(name + '-lm', task, fields) {
  row_label: row_label,
  cells: [
    { column: 'perplexity before', metric: 'perplexity_before', paper: before },
    { column: 'after', metric: 'perplexity', paper: after },
  ],
};

local effect(task, bilm, without, with) = [
  rows.untuned(task, 'score, biLM as it was') { paper: without },
  rows.untuned(task, 'score, tuned biLM') { name: task + '-tuned', bilm_of: bilm, paper: with },
];

{
  title: 'Table 7: fine-tuning the biLM',
  about: 'Dev data; perplexity is the geometric mean of both directions. ' + rows.caps,
  increase: { of: 'score, tuned biLM', over: 'score, biLM as it was' },
  rows: [
          tuned('snli', 'snli', 'SNLI', ['premise', 'hypothesis'], 72.1, 16.8),
          tuned('coref', 'coref', 'Coref', ['text'], 92.3, null),
          tuned('ner', 'ner', 'NER', ['tokens'], 103.2, 46.3),
          tuned('squad', 'contexts', 'SQuAD, contexts', ['passage'], 99.1, 43.5),
          tuned('squad', 'questions', 'SQuAD, questions', ['question'], 158.2, 52.0),
          tuned('sst', 'sst', 'SST-5', ['tokens'], 131.5, 78.6),
        ]
        + effect('snli', 'snli-lm', 88.9, 89.5)
        + effect('squad', 'contexts-lm', null, 85.6)
        + effect('sst', 'sst-lm', null, { says: 'no difference' }),
}
