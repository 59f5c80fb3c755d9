"""`elmo-tasks evaluate --predictions-output-file`: writes gold and predicted propositions for srl-eval.pl."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allennlp.evaluation import Evaluator

from elmo_tasks.tasks.evaluator import OfficialEvaluator
from elmo_tasks.tasks.srl.props import Proposition, write_props

GOLD_SUFFIX = ".gold"
"""Appended to the name of the file of predictions for the file of gold propositions."""


@Evaluator.register("elmo_tasks_srl")
class SrlEvaluator(OfficialEvaluator):
    """
    Writes the predicted propositions to `FILE` and the gold ones to `FILE.gold`, both atomically, so that
    `perl srl-eval.pl FILE.gold FILE` scores them. See `OfficialEvaluator`.
    """

    def predictions(self, batch: dict[str, Any], output: dict[str, Any]) -> list[tuple[dict[str, Any], list[str]]]:
        """Metadata and predicted tags of each proposition."""
        return list(zip(batch["metadata"], output["tags"], strict=True))

    def write(self, file: Path, predictions: Iterator[tuple[dict[str, Any], list[str]]]) -> None:
        gold: list[Proposition] = []
        predicted: list[Proposition] = []
        for metadata, tags in predictions:
            known = (metadata["file"], metadata["line"], metadata["predicate"], metadata["lemma"])
            gold.append(Proposition(*known, metadata["tags"]))
            predicted.append(Proposition(*known, tags))
        write_props(file, predicted)
        write_props(file.with_name(file.name + GOLD_SUFFIX), gold)
