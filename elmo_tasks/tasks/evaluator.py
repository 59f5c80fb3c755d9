"""
Base class of evaluators that write files of predictions (`elmo-tasks evaluate
--predictions-output-file`), and that of models with one label.
"""

import json
import os
from abc import abstractmethod
from os import PathLike
from pathlib import Path
from typing import Any, cast

from allennlp.data import DataLoader, Vocabulary
from allennlp.evaluation import Evaluator, SimpleEvaluator
from allennlp.evaluation.serializers.serializers import Serializer
from allennlp.models import Model
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Device, checked
from elmo_tasks.system.files import write_text
from elmo_tasks.tasks.reader import LABEL_NAMESPACE

Answers = list[tuple[dict[str, Any], Any]]
"""The metadata of each instance, and its predicted or gold answer."""


class OfficialEvaluator(SimpleEvaluator):
    """
    AllenNLP's evaluator, with predictions in the format of an official scorer, or one
    for people, written atomically at the end.
    """

    vocab: Vocabulary
    """That of the model."""

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
        self.vocab = model.vocab
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


def by_line(answer: tuple[dict[str, Any], Any]) -> tuple[str, int]:
    """The file and the line of an answer, by which answers are sorted."""
    known, _ = answer
    return known["file"], known["line"]


_NO_WORDS = ("label", "file", "line")
"""The other metadata of a classifier's instances."""


@Evaluator.register("elmo_tasks_classifier")
class LabelEvaluator(OfficialEvaluator):
    """
    Writes a JSON object for each text or pair, in their order: the words, the `gold`
    label and the predicted `label`, as in the data, and the `probabilities` of all
    labels. See `OfficialEvaluator`.
    """

    answers = "probabilities"

    def text(self, answers: Answers) -> str:
        labels = list(self.vocab.get_token_to_index_vocabulary(LABEL_NAMESPACE))
        lines = []
        for known, _ in answers[:1]:
            if not known.keys() >= set(_NO_WORDS):
                problem = f"expected metadata with {', '.join(_NO_WORDS)}"
                raise InputError(f"predictions: {problem}, got {', '.join(known)}")
        for known, probabilities in sorted(answers, key=by_line):
            record = {name: known[name] for name in known if name not in _NO_WORDS}
            by_label = dict(zip(labels, probabilities.tolist(), strict=True))
            record["gold"] = known["label"]
            record["label"] = labels[int(probabilities.argmax())]
            record["probabilities"] = by_label
            lines.append(json.dumps(record) + "\n")
        return "".join(lines)
