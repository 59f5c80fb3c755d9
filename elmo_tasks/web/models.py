"""Trained archives: what the page shows of them, and their predictions."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError, one_line
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.tasks import TASKS, task_of
from elmo_tasks.training.archives import load_archive
from elmo_tasks.web.worker import Outcome, Worker

MAX_PAIRS = 250_000
"""The largest product of the lengths of premise and hypothesis: the answer has two numbers for each pair of words."""

_WORD = re.compile(r"[^\W_]{1,50}|_|[^\w\s]")
"""Tokenizers may split at every sign; a word of more characters counts as several."""


class ServedModel:
    """
    An archive's predictor, and the worker that runs it, which takes `options`. Raises `InputError` if the file is
    missing or damaged, or of another task.
    """

    def __init__(self, archive: Path, **options: int) -> None:
        if not archive.is_file():
            raise InputError("the archive does not exist", file=archive)
        loaded = load_archive(archive)
        try:
            self.predictor: Any = Predictor.from_archive(loaded)
            task = task_of(self.predictor)
        except (ValueError, ConfigurationError):
            task = None
        if task is None:
            found = loaded.config["model"]["type"]
            raise InputError(f"expected a model of {', '.join(TASKS)}, got {found!r}", file=archive)
        self.task = task
        modules = list(self.predictor._model.modules())
        self._embedders = [module for module in modules if isinstance(module, ElmoTokenEmbedder)]
        self.worker = Worker(self.answers, **options)
        for module in modules:
            module.register_forward_pre_hook(self.worker.check)

    def describe(self) -> dict[str, Any]:
        """`task`, `mix` (for each place of ELMo) and `examples`."""
        found = [(at, getattr(one, f"{at}_mix")) for one in self._embedders for at in ("input", "output")]
        mixes = [
            {"at": at, "weights": mix.layer_weights().tolist(), "gamma": 1.0 if mix.gamma is None else mix.gamma.item()}
            for at, mix in found
            if mix is not None
        ]
        return {"task": self.task.name, "mix": mixes, "examples": self.task.examples}

    def words(self, data: Any) -> int:
        """The number of an input's words, about for raw text. Raises `InputError` for too many pairs of words."""
        words = {key: words_in(value) for key, value in data.items()} if isinstance(data, dict) else {}
        if self.task.name == "snli" and words.get("premise", 0) * words.get("hypothesis", 0) > MAX_PAIRS:
            raise InputError(f"expected at most {MAX_PAIRS:,} pairs of words of premise and hypothesis, got more")
        return sum(count for key, count in words.items() if key not in ("id", "genre", "speakers"))

    def answers(self, inputs: Sequence[Any]) -> list[Outcome]:
        """The lines that `elmo-tasks predict` writes. If a batch fails, its inputs are predicted one by one."""
        try:
            one = self.predictor
            outputs = one.predict_batch_json(list(inputs)) if len(inputs) > 1 else [one.predict_json(inputs[0])]
            return [one.dump_line(output).encode() for output in outputs]
        except Exception as error:
            if len(inputs) > 1:
                return [answer for one in inputs for answer in self.answers([one])]
            line = one_line(error)
            return [error if line is None else InputError(line)]


def words_in(value: Any) -> int:
    """The words of raw text, approximately, or the number of strings in a list of any depth."""
    if isinstance(value, str):
        return sum(1 for _ in _WORD.finditer(value))
    count, left = 0, [value]
    while left:
        one = left.pop()
        left += one if isinstance(one, list) else ()
        count += isinstance(one, str)
    return count
