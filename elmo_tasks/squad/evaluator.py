"""`allennlp evaluate --predictions-output-file`: the answers in the official format instead of AllenNLP's."""

import json
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from allennlp.data import DataLoader
from allennlp.evaluation import Evaluator, SimpleEvaluator
from allennlp.evaluation.serializers.serializers import Serializer
from allennlp.models import Model

from elmo_tasks.squad.official import write_predictions


class _IdsAndTexts(Serializer):
    """The answers of one batch as a JSON object, from id to text."""

    def __call__(self, batch: Any, output_dict: dict[str, Any], *_: Any, **__: Any) -> str:
        best = (spans[0]["text"] for spans in output_dict["spans"])
        return json.dumps(dict(zip(output_dict["id"], best, strict=True)))


@Evaluator.register("elmo_tasks_squad")
class SquadEvaluator(SimpleEvaluator):
    """
    AllenNLP's evaluator, with the file of predictions as the official script of SQuAD wants it: `{id: text}`, whole or
    not written at all.

    # Parameters

    cuda_device : `int`
        From the command line.
    """

    def __init__(self, cuda_device: int = -1) -> None:
        super().__init__(_IdsAndTexts(), cuda_device)

    def __call__(
        self,
        model: Model,
        data_loader: DataLoader,
        batch_weight_key: str | None = None,
        metrics_output_file: str | PathLike | None = None,
        predictions_output_file: str | PathLike | None = None,
    ) -> dict[str, Any]:
        """
        Scores a model and, if `predictions_output_file` is given, writes its answers there.

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
            predictions: dict[str, str] = {}
            for line in lines.read_text(encoding="utf-8").splitlines():
                predictions |= json.loads(line)
        write_predictions(Path(predictions_output_file), predictions)
        return scores
