"""
Base class of evaluators that write official prediction files (`elmo-tasks evaluate
--predictions-output-file`).
"""

import os
from abc import abstractmethod
from os import PathLike
from pathlib import Path
from typing import Any, cast

from allennlp.data import DataLoader
from allennlp.evaluation import SimpleEvaluator
from allennlp.evaluation.serializers.serializers import Serializer
from allennlp.models import Model
from overrides import overrides

from elmo_tasks.settings import Device, checked
from elmo_tasks.system.files import write_text

Answers = list[tuple[dict[str, Any], Any]]
"""The metadata of each instance, and its predicted or gold answer."""


class OfficialEvaluator(SimpleEvaluator):
    """
    AllenNLP's evaluator, with predictions in the format of an official scorer, written
    atomically at the end.
    """

    answers: str
    """The output of the model with the predictions."""

    gold_suffix: str | None = None
    """
    Appended to the name of the file for that of the gold answers, which are the
    metadata of the same name.
    """

    @checked
    def __init__(self, cuda_device: Device = -1) -> None:
        super().__init__(cast(Serializer, self._collect), cuda_device)
        self._found: Answers = []

    @abstractmethod
    def text(self, answers: Answers) -> str:
        """The text of a file with these answers, which are in any order."""

    @overrides
    def __call__(
        self,
        model: Model,
        data_loader: DataLoader,
        batch_weight_key: str | None = None,
        metrics_output_file: str | PathLike | None = None,
        predictions_output_file: str | PathLike | None = None,
    ) -> dict[str, Any]:
        """
        The metrics; writes the predictions if a file is given. Raises `InputError` if
        it cannot be written.
        """
        self._found = []
        serialized = None
        if predictions_output_file is not None:
            serialized = os.devnull  # AllenNLP writes only if it has a file
        scores: dict[str, Any] = super().__call__(
            model, data_loader, batch_weight_key, metrics_output_file, serialized
        )
        if predictions_output_file is not None:
            file = Path(predictions_output_file)
            write_text(file, self.text(self._found))
            if self.gold_suffix is not None:
                gold = [(known, known[self.answers]) for known, _ in self._found]
                beside = file.with_name(file.name + self.gold_suffix)
                write_text(beside, self.text(gold))
        return scores

    def _collect(
        self, batch: dict[str, Any], output: dict[str, Any], *_: Any, **__: Any
    ) -> str:
        """Called by AllenNLP for each batch, whose file gets the result."""
        self._found += zip(batch["metadata"], output[self.answers], strict=True)
        return ""
