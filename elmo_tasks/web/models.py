"""Trained archives: what the page shows of them, and their predictions."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetch import downloads
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.tasks import TASKS, task_of
from elmo_tasks.training.archives import load_archive


class ServedModel:
    """
    An archive's predictor, and the thread that runs it, one input at a time. Raises `InputError` if the file is
    damaged, or of another task.
    """

    def __init__(self, archive: Path, *, allow_downloads: bool = False) -> None:
        loaded = load_archive(archive, allow_downloads=allow_downloads)
        try:
            with downloads(allowed=allow_downloads):
                self.predictor: Any = Predictor.from_archive(loaded)
            task = task_of(self.predictor)
        except (ValueError, ConfigurationError):
            task = None
        if task is None:
            found = loaded.config["model"]["type"]
            raise InputError(
                f"expected a model of {', '.join(TASKS)}, got {found!r}", file=archive
            )
        self.task = task
        self._thread = ThreadPoolExecutor(1)

    def describe(self) -> dict[str, Any]:
        """`task`, `mix` (for each place of ELMo) and `examples`."""
        embedders = [
            module
            for module in self.predictor._model.modules()
            if isinstance(module, ElmoTokenEmbedder)
        ]
        mixes = [
            {
                "at": at,
                "weights": mix.layer_weights().tolist(),
                "gamma": 1.0 if mix.gamma is None else mix.gamma.item(),
            }
            for at, mix in (found for one in embedders for found in one.mixes())
        ]
        return {"task": self.task.name, "mix": mixes, "examples": self.task.examples}

    async def answer(self, data: Any) -> bytes:
        """The line that `elmo-tasks predict` writes for an input. Raises what the predictor does."""
        outputs = await asyncio.get_running_loop().run_in_executor(
            self._thread, self.predictor.predict_json, data
        )
        line: str = self.predictor.dump_line(outputs)
        return line.encode()
