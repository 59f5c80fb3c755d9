"""
`elmo-tasks evaluate --predictions-output-file`: writes predicted and gold propositions for srl-eval.pl. Its format has
one line per word, with the lemma of a predicate (else `-`) in the first column and one column of brackets per
predicate, and an empty line after each sentence.
"""

from itertools import groupby
from typing import Any

from allennlp.evaluation import Evaluator

from elmo_tasks.formats.brackets import brackets_from_spans
from elmo_tasks.formats.spans import spans_from_tags
from elmo_tasks.tasks.evaluator import Answers, OfficialEvaluator

_NONE, _UNKNOWN = "-", "?"


@Evaluator.register("elmo_tasks_srl")
class SrlEvaluator(OfficialEvaluator):
    """
    Writes the predicted propositions to `FILE` and the gold ones to `FILE.gold`, so that
    `perl srl-eval.pl FILE.gold FILE` scores them. See `OfficialEvaluator`.
    """

    answers, gold_suffix = "tags", ".gold"

    def text(self, answers: Answers) -> str:
        ordered = sorted(
            answers, key=lambda one: (*_sentence(one), one[0]["predicate"])
        )
        return "".join(
            _rows(list(group)) for _, group in groupby(ordered, key=_sentence)
        )


def _sentence(answer: tuple[dict[str, Any], list[str]]) -> tuple[str, int]:
    return answer[0]["file"], answer[0]["line"]


def _rows(propositions: Answers) -> str:
    """
    The lines of a sentence. `-`, which the format reserves for words that are not
    predicates, is written as `?`, and a blank in a lemma as `_`.
    """
    length = len(propositions[0][1])
    lemmas = [_NONE] * length
    for known, _ in propositions:
        lemmas[known["predicate"]] = (
            _UNKNOWN if known["lemma"] == _NONE else "_".join(known["lemma"].split())
        )
    columns = [
        brackets_from_spans(spans_from_tags(tags), length=length)
        for _, tags in propositions
    ]
    return (
        "".join(f"{' '.join(row)}\n" for row in zip(lemmas, *columns, strict=True))
        + "\n"
    )
