"""`allennlp evaluate --predictions-output-file`: gold and predictions as srl-eval.pl reads them."""

import json
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from allennlp.data import DataLoader
from allennlp.evaluation import Evaluator, SimpleEvaluator
from allennlp.evaluation.serializers.serializers import Serializer
from allennlp.models import Model

from elmo_tasks.srl.props import Proposition, write_props

GOLD_SUFFIX = ".gold"
"""What the name of the file of gold propositions ends in; the rest is the name of the file of predicted ones."""


class _Propositions(Serializer):
    """The metadata and the predicted tags of one batch as JSON."""

    def __call__(self, batch: Any, output_dict: dict[str, Any], *_: Any, **__: Any) -> str:
        return json.dumps(list(zip(batch["metadata"], output_dict["tags"], strict=True)))


@Evaluator.register("elmo_tasks_srl")
class SrlEvaluator(SimpleEvaluator):
    """
    AllenNLP's evaluator, which writes the predicted propositions to `FILE` and the gold ones to `FILE.gold`, each whole
    or not at all; then `perl srl-eval.pl FILE.gold FILE` scores them.

    # Parameters

    cuda_device : `int`
        From the command line.
    """

    def __init__(self, cuda_device: int = -1) -> None:
        super().__init__(_Propositions(), cuda_device)

    def __call__(
        self,
        model: Model,
        data_loader: DataLoader,
        batch_weight_key: str | None = None,
        metrics_output_file: str | PathLike | None = None,
        predictions_output_file: str | PathLike | None = None,
    ) -> dict[str, Any]:
        """
        Scores a model and, if `predictions_output_file` is given, writes the two files.

        # Raises

        `InputError`
            If a file cannot be written.
        """
        parts = (model, data_loader, batch_weight_key, metrics_output_file)
        if predictions_output_file is None:
            return super().__call__(*parts)
        with TemporaryDirectory() as folder:
            lines = Path(folder) / "batches"
            scores: dict[str, Any] = super().__call__(*parts, lines)
            _write(Path(predictions_output_file), lines)
        return scores


def _write(file: Path, lines: Path) -> None:
    gold: list[Proposition] = []
    predicted: list[Proposition] = []
    for line in lines.read_text(encoding="utf-8").splitlines():
        for metadata, tags in json.loads(line):
            known = (metadata["file"], metadata["line"], metadata["predicate"], metadata["lemma"])
            gold.append(Proposition(*known, metadata["tags"]))
            predicted.append(Proposition(*known, tags))
    write_props(file, predicted)
    write_props(file.with_name(file.name + GOLD_SUFFIX), gold)
