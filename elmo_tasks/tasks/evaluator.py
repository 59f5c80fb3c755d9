"""Base class of evaluators that write official prediction files (`elmo-tasks evaluate --predictions-output-file`)."""

import os
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast

from allennlp.data import DataLoader
from allennlp.evaluation import SimpleEvaluator
from allennlp.evaluation.serializers.serializers import Serializer
from allennlp.models import Model


class OfficialEvaluator(SimpleEvaluator):
    """AllenNLP's evaluator, with predictions in the format of an official scorer, written at the end."""

    def __init__(self, cuda_device: int = -1) -> None:
        super().__init__(cast(Serializer, self._collect), cuda_device)
        self._found: list[Any] = []

    @abstractmethod
    def predictions(self, batch: dict[str, Any], output: dict[str, Any]) -> Sequence[Any]:
        """What `write` needs of each instance of a batch."""

    @abstractmethod
    def write(self, file: Path, predictions: Iterable[Any]) -> None:
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
        self._found = []
        serialized = None if predictions_output_file is None else os.devnull
        scores: dict[str, Any] = super().__call__(model, data_loader, batch_weight_key, metrics_output_file, serialized)
        if predictions_output_file is not None:
            self.write(Path(predictions_output_file), self._found)
        return scores

    def _collect(self, batch: dict[str, Any], output: dict[str, Any], *_: Any, **__: Any) -> str:
        """Called by AllenNLP for each batch, whose file gets the result."""
        self._found += self.predictions(batch, output)
        return ""
