"""
An archive and its predictions. The server's own process does not import this, nor
AllenNLP.
"""

import contextlib
import json
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetch import downloads
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.tasks import TASKS, task_of
from elmo_tasks.training.archives import load_archive

MAX_ANSWER = 2_000_000
"""Bytes of an answer."""


class LoadedModel:
    """
    An archive's predictor. Raises `InputError` if the file is damaged, or of another
    task.
    """

    def __init__(self, archive: Path, *, allow_downloads: bool = False) -> None:
        loaded = load_archive(archive, allow_downloads=allow_downloads)
        task = None
        # a model without a predictor, or with one that is not registered
        with (
            contextlib.suppress(ValueError, ConfigurationError),
            downloads(allowed=allow_downloads),
        ):
            self.predictor: Any = Predictor.from_archive(loaded)
            task = task_of(self.predictor)
        if task is None:
            found = loaded.config["model"]["type"]
            raise InputError(
                f"expected a model of {', '.join(TASKS)}, got {found!r}", file=archive
            )
        self.task = task
        with contextlib.suppress(InputError):  # said when it is asked for
            self.predictor.predict_json(task.examples[0].input)

    def describe(self) -> dict[str, Any]:
        """`task` and `mix` (for each place of ELMo)."""
        mixes: list[tuple[str, Any]] = []
        for module in self.predictor._model.modules():
            if isinstance(module, ElmoTokenEmbedder):
                mixes.extend(module.mixes())
        described = []
        for at, mix in mixes:
            gamma = 1.0
            if mix.gamma is not None:
                gamma = mix.gamma.item()
            weights = mix.layer_weights().tolist()
            described.append({"at": at, "weights": weights, "gamma": gamma})
        return {"task": self.task.name, "mix": described}

    def answer(self, data: Any) -> bytes:
        """
        The line that `elmo-tasks predict` writes for an input, with attention over the
        words that the page draws. Raises `InputError` if the input or the answer
        exceeds a limit, and what the predictor does.
        """
        for what, size in self.predictor.sizes(data).items():
            most = self.task.page.limits.get(what)
            if most is not None and size > most:
                raise InputError(f"expected at most {most:,} {what}, got {size:,}")
        outputs = self.predictor.predict_json(data)
        drawn = self.task.page.attention
        for key in outputs:
            if key.endswith("_attention"):
                outputs[key] = [weights[:drawn] for weights in outputs[key][:drawn]]
        line = json.dumps(outputs, allow_nan=False) + "\n"
        if len(line) > MAX_ANSWER:
            problem = f"expected an input whose answer has at most {MAX_ANSWER:,} bytes"
            raise InputError(f"{problem}, got {len(line):,}")
        return line.encode()
