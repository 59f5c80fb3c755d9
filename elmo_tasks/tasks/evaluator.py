"""Base class of evaluators that write official prediction files (`elmo-tasks evaluate --predictions-output-file`)."""

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
    """AllenNLP's evaluator, with predictions in the format of an official scorer, written at the end."""

    def __init__(self, cuda_device: int = -1) -> None:
        super().__init__(_JsonLines(self), cuda_device)

    @abstractmethod
    def predictions(self, batch: dict[str, Any], output: dict[str, Any]) -> Sequence[Any]:
        """What `write` needs of each instance of a batch; must be serialisable as JSON."""

    @abstractmethod
    def write(self, file: Path, predictions: Iterator[Any]) -> None:
        """Writes the predictions of all instances atomically. Raises `InputError` if the file cannot be written."""

    def __call__(
        self,
        model: Model,
        data_loader: DataLoader,
        batch_weight_key: str | None = None,
        metrics_output_file: str | PathLike | None = None,
        predictions_output_file: str | PathLike | None = None,
    ) -> dict[str, Any]:
        """The metrics; writes the predictions if a file is given. Raises what `write` does."""
        arguments = (model, data_loader, batch_weight_key, metrics_output_file)
        if predictions_output_file is None:
            return super().__call__(*arguments)
        with TemporaryDirectory() as folder:
            lines = Path(folder) / "batches"
            scores: dict[str, Any] = super().__call__(*arguments, lines)
            self.write(Path(predictions_output_file), _read(lines))
        return scores


class _JsonLines(Serializer):
    """A line of JSON per batch, in a temporary file: predictions need not fit in memory."""

    def __init__(self, evaluator: OfficialEvaluator) -> None:
        self._evaluator = evaluator

    def __call__(self, batch: Any, output_dict: dict[str, Any], *_: Any, **__: Any) -> str:
        return json.dumps(list(self._evaluator.predictions(batch, output_dict)))


def _read(lines: Path) -> Iterator[Any]:
    with lines.open(encoding="utf-8") as file:
        for line in file:
            yield from json.loads(line)
