"""What the tasks with an official file of predictions share: `allennlp evaluate --predictions-output-file`."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from allennlp.data import DataLoader
from allennlp.evaluation import SimpleEvaluator
from allennlp.evaluation.serializers.serializers import Serializer
from allennlp.models import Model


class OfficialEvaluator(SimpleEvaluator):
    """
    AllenNLP's evaluator, which writes the predictions as the official scorer wants them in place of AllenNLP's own
    format, when all are there.

    # Parameters

    cuda_device : `int`
        From the command line.
    """

    def __init__(self, cuda_device: int = -1) -> None:
        super().__init__(_Lines(self), cuda_device)

    @abstractmethod
    def predictions(self, batch: dict[str, Any], output: dict[str, Any]) -> Sequence[Any]:
        """What is kept of each instance of a batch until all are predicted; JSON must be able to hold it."""

    @abstractmethod
    def write(self, file: Path, predictions: Iterator[Any]) -> None:
        """
        Writes what was kept of all instances, whole or not at all.

        # Raises

        `InputError`
            If the file cannot be written.
        """

    def __call__(
        self,
        model: Model,
        data_loader: DataLoader,
        batch_weight_key: str | None = None,
        metrics_output_file: str | PathLike | None = None,
        predictions_output_file: str | PathLike | None = None,
    ) -> dict[str, Any]:
        """
        Scores a model and, if `predictions_output_file` is given, writes its predictions there.

        # Raises

        `InputError`
            If that file cannot be written.
        """
        parts = (model, data_loader, batch_weight_key, metrics_output_file)
        if predictions_output_file is None:
            return super().__call__(*parts)
        with TemporaryDirectory() as folder:
            lines = Path(folder) / "batches"
            scores: dict[str, Any] = super().__call__(*parts, lines)
            self.write(Path(predictions_output_file), _kept(lines))
        return scores


class _Lines(Serializer):
    """One batch as a line of JSON."""

    def __init__(self, evaluator: OfficialEvaluator) -> None:
        self._evaluator = evaluator

    def __call__(self, batch: Any, output_dict: dict[str, Any], *_: Any, **__: Any) -> str:
        return json.dumps(list(self._evaluator.predictions(batch, output_dict)))


def _kept(lines: Path) -> Iterator[Any]:
    with lines.open(encoding="utf-8") as file:
        for line in file:
            yield from json.loads(line)
