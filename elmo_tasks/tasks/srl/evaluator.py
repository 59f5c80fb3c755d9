"""
`elmo-tasks evaluate --predictions-output-file`: writes predicted and gold propositions
for srl-eval.pl. Its format has one line per word, with the lemma of a predicate (else
`-`) in the first column and one column of brackets per predicate, and an empty line
after each sentence.
"""

from itertools import groupby
from typing import Any

from allennlp.evaluation import Evaluator

from elmo_tasks.formats.annotation.brackets import brackets_from_spans
from elmo_tasks.formats.annotation.spans import spans_from_tags
from elmo_tasks.tasks.evaluator import Answers, OfficialEvaluator, by_line

_NONE = "-"
_UNKNOWN = "?"


@Evaluator.register("elmo_tasks_srl")
class SrlEvaluator(OfficialEvaluator):
    """
    Writes the predicted propositions to `FILE` and the gold ones to `FILE.gold`, so
    that `perl srl-eval.pl FILE.gold FILE` scores them. See `OfficialEvaluator`.
    """

    answers = "tags"
    gold_suffix = ".gold"

    def text(self, answers: Answers) -> str:
        sentences = groupby(sorted(answers, key=_predicate), key=by_line)
        return "".join([_rows(list(propositions)) for _, propositions in sentences])


def _predicate(answer: tuple[dict[str, Any], list[str]]) -> tuple[str, int, int]:
    known, _ = answer
    return known["file"], known["line"], known["predicate"]


def _rows(propositions: Answers) -> str:
    """
    The lines of a sentence. `-`, which the format reserves for words that are not
    predicates, is written as `?`, and a blank in a lemma as `_`.
    """
    length = len(propositions[0][1])
    lemmas = [_NONE] * length
    columns = [lemmas]
    for known, tags in propositions:
        lemma = _UNKNOWN
        if known["lemma"] != _NONE:
            lemma = "_".join(known["lemma"].split())
        lemmas[known["predicate"]] = lemma
        columns.append(brackets_from_spans(spans_from_tags(tags), length=length))
    return "".join([" ".join(row) + "\n" for row in zip(*columns, strict=True)]) + "\n"
