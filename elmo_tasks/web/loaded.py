"""An archive and its predictions."""

import contextlib
import json
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables.run_dir import numbers, read_json
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.system.run_names import METRICS
from elmo_tasks.tasks import TASKS, task_of
from elmo_tasks.tasks.task import Task
from elmo_tasks.training.archives.loading import load_archive
from elmo_tasks.training.archives.opener import opener_of
from elmo_tasks.training.archives.predictors import (
    default_predictor,
    predicted,
    predictor_of,
)
from elmo_tasks.training.metrics import metric_of

SYNTHETIC = "miniworld"
"""The folder of the synthetic corpus, from which the built-in examples are."""


class LoadedModel:
    """
    An archive's predictor: one of this package's tasks, or one for which its opener has
    a page. Raises `InputError` if the file is damaged, or of another task. For the
    parameters see `load_archive`.
    """

    def __init__(self, archive: Path, *, allow_downloads: bool = False) -> None:
        loaded = load_archive(archive, allow_downloads=allow_downloads)
        self._archive = archive
        name = default_predictor(loaded)
        self.predictor: Any = None
        if name is not None:
            with contextlib.suppress(ConfigurationError):  # it is not registered
                self.predictor = predictor_of(loaded, allow_downloads=allow_downloads)
        self.task = task_of(self.predictor)
        self.page: dict[str, Any] | None = None
        self.is_of_synthetic_data = False
        self.name = str(name)
        if self.task is None:
            opener = opener_of(loaded.config)
            if self.predictor is not None and opener is not None:
                self.page = opener.page(self.name)
            if self.page is None:
                found = loaded.config["model"]["type"]
                raise InputError(
                    f"expected a model of {', '.join(TASKS)}, got {found!r}",
                    file=archive,
                    hint="for other models, write a server with elmo_tasks.load",
                )
            return
        self.name = self.task.name
        validated_on = str(loaded.config.params.get("validation_data_path"))
        self.is_of_synthetic_data = SYNTHETIC in Path(validated_on).parts

    def describe(self) -> dict[str, Any]:
        """
        `task`, `mix` (for each place of ELMo; `None` for a model of another package),
        `scores`: those of its run, by the data, `labels`: those of a model of another
        package, whose answers do not name them, and `page`: what it shows.
        """
        model = self.predictor._model
        if self.task is None:
            namespace = getattr(model, "_label_namespace", "labels")
            known = model.vocab.get_index_to_token_vocabulary(namespace)
            return {
                "task": self.name,
                "mix": None,
                "scores": {},
                "labels": [known[number] for number in sorted(known)],
                "page": self.page,
            }
        mixes: list[tuple[str, Any]] = []
        for module in model.modules():
            if isinstance(module, ElmoTokenEmbedder):
                mixes.extend(module.mixes())
        described = []
        for at, mix in mixes:
            gamma = 1.0
            if mix.gamma is not None:
                gamma = mix.gamma.item()
            weights = mix.layer_weights().tolist()
            described.append({"at": at, "weights": weights, "gamma": gamma})
        return {
            "task": self.name,
            "mix": described,
            "scores": _scores_of(self._archive, self.task.metric),
            "labels": None,
            "page": None,
        }

    def answer(self, data: Any) -> bytes:
        """
        The line that `elmo-tasks predict` writes for an input, with attention over the
        words that the page draws. Raises `InputError` if the input exceeds
        a limit, and what the predictor does.
        """
        if self.task is None:
            outputs = predicted(self.predictor, data)
        else:
            outputs = self._outputs(self.task, data)
        return f"{json.dumps(outputs, allow_nan=False)}\n".encode()

    def _outputs(self, task: Task, data: Any) -> Any:
        for what, size in self.predictor.sizes(data).items():
            most = task.page.limits.get(what)
            if most is not None and size > most:
                raise InputError(f"expected at most {most:,} {what}, got {size:,}")
        outputs = self.predictor.predict_json(data)
        drawn = task.page.attention
        for key in outputs:
            if key.endswith("_attention"):
                outputs[key] = [weights[:drawn] for weights in outputs[key][:drawn]]
        return outputs


def _scores_of(archive: Path, metric: str) -> dict[str, str]:
    """
    The score that the run of an archive has written beside it, of the test data and of
    the best epoch's validation, as tables show it.
    """
    folder = archive
    if archive.is_file():
        folder = archive.parent
    metrics = read_json(folder / METRICS) or {}
    scores = {}
    for data, prefix in (("test", "test_"), ("validation", "best_validation_")):
        found = numbers(metrics, prefix)
        if metric in found:
            shown = metric_of(metric)
            scores[data] = shown.text(shown.shown(found[metric]))
    return scores
