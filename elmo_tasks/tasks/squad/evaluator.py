"""`elmo-tasks evaluate --predictions-output-file`: answers in the format of the official SQuAD script."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allennlp.evaluation import Evaluator

from elmo_tasks.tasks.evaluator import OfficialEvaluator
from elmo_tasks.tasks.squad.official import write_predictions


@Evaluator.register("elmo_tasks_squad")
class SquadEvaluator(OfficialEvaluator):
    """Writes `{id: text}`; see `OfficialEvaluator`."""

    def predictions(self, batch: dict[str, Any], output: dict[str, Any]) -> list[tuple[str, str]]:
        """Id and best answer of each question."""
        best = [spans[0]["text"] if spans else "" for spans in output["spans"]]
        return list(zip(output["id"], best, strict=True))

    def write(self, file: Path, predictions: Iterator[tuple[str, str]]) -> None:
        write_predictions(file, dict(predictions))
