"""
A run in an experiment tracker: Weights & Biases, Trackio or MLflow.

A tracker's own environment variables say where it stores runs and under which account,
such as `WANDB_MODE`, `TRACKIO_DIR` and `MLFLOW_TRACKING_URI`.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal
from uuid import uuid4

from allennlp.common import Params

from elmo_tasks.errors import InputError, shown

TrackerName = Literal["wandb", "trackio", "mlflow"]

PROJECT = "elmo-tasks"
"""The project of runs for which neither the config nor the environment names one."""

PACKAGES = {
    "wandb": "'wandb>=0.16'",
    # The transformers of AllenNLP reject huggingface_hub 1, which later ones need.
    "trackio": "'trackio>=0.20,<0.21' 'huggingface_hub<1.0'",
    "mlflow": "'mlflow-skinny>=3' sqlalchemy alembic",
}
"""What `pip install` needs for each tracker, beside the packages of `tasks`."""

_MOST_PARAMETERS = 100
"""MLflow takes so many in one call."""


@dataclass(frozen=True)
class NewRun:
    """What a tracker is told of a run: its project, if one is given, name and config."""

    project: str | None
    name: str
    config: dict[str, Any]

    def project_or(self, variable: str) -> str:
        """The given project, else that of an environment variable, else `PROJECT`."""
        return self.project or os.environ.get(variable) or PROJECT


class Tracker:
    """
    A run in one tracker. The methods raise whatever the tracker's package raises.

    Constructing it imports the package, and raises `InputError` if that fails.
    """

    name: TrackerName
    is_begun = False
    """
    Whether there is a run that `finish` has to end. `start` sets it where something can
    fail after the run was begun.
    """

    def __init__(self) -> None:
        fault = fault_of(self.name)
        if fault is not None:
            raise InputError(f"expected the package {self.name}, got {fault}")
        self._package = import_module(self.name)

    def start(self, run: NewRun, known: str | None) -> str:
        """Begins a run, or continues the one whose id is `known`. Returns the id."""
        raise NotImplementedError

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Reports metrics after `step` epochs."""
        raise NotImplementedError

    def finish(self, *, failed: bool) -> None:
        """Ends the run, and waits until everything is written."""
        raise NotImplementedError


class WeightsAndBiases(Tracker):
    """Weights & Biases. `WANDB_MODE=offline` keeps the run in the folder `wandb`."""

    name = "wandb"
    _run: Any

    def start(self, run: NewRun, known: str | None) -> str:
        self._run = self._package.init(
            project=run.project_or("WANDB_PROJECT"),
            name=run.name,
            id=known or uuid4().hex[:8],
            resume="allow",
            config=run.config,
        )
        return str(self._run.id)

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._run.log(dict(metrics), step=step)

    def finish(self, *, failed: bool) -> None:
        self._run.finish(exit_code=int(failed))


class Trackio(Tracker):
    """Trackio, whose runs have no other id than their name in the project."""

    name = "trackio"
    _run: Any

    def start(self, run: NewRun, known: str | None) -> str:
        project = run.project_or("TRACKIO_PROJECT")
        name = known
        if name is None:
            name = run.name
            if self._exists(project, name):
                name = f"{name}-{uuid4().hex[:6]}"
        self._run = self._package.init(
            project=project, name=name, resume="allow", config=run.config, embed=False
        )
        return str(self._run.name)

    def _exists(self, project: str, name: str) -> bool:
        try:
            runs = self._package.Api().runs(project)
        except ValueError:  # there is no such project yet
            return False
        return any(run.name == name for run in runs)

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._run.log(dict(metrics), step=step)

    def finish(self, *, failed: bool) -> None:
        self._run.finish()


class MLflow(Tracker):
    """MLflow: the project is its experiment, and the config the parameters."""

    name = "mlflow"
    _id: str

    def start(self, run: NewRun, known: str | None) -> str:
        if known is None:
            experiment = run.project_or("MLFLOW_EXPERIMENT_NAME")
            started = self._package.start_run(
                experiment_id=self._package.set_experiment(experiment).experiment_id,
                run_name=run.name,
                nested=True,
            )
        else:
            started = self._package.start_run(run_id=known, nested=True)
        self.is_begun = True
        self._id = str(started.info.run_id)
        if known is None:
            self._log_parameters(run.config)
        return self._id

    def _log_parameters(self, config: Mapping[str, Any]) -> None:
        parameters = {}
        for key, value in Params(dict(config)).as_flat_dict().items():
            text = value if isinstance(value, str) else json.dumps(value)
            parameters[_mlflow_name(key)] = text
        names = list(parameters)
        for first in range(0, len(names), _MOST_PARAMETERS):
            some = names[first : first + _MOST_PARAMETERS]
            self._package.log_params({name: parameters[name] for name in some})

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        named = {_mlflow_name(name): value for name, value in metrics.items()}
        self._package.log_metrics(named, step=step, run_id=self._id)

    def finish(self, *, failed: bool) -> None:
        self._package.end_run("FAILED" if failed else "FINISHED")


TRACKERS: dict[TrackerName, type[Tracker]] = {}
for _tracker in (WeightsAndBiases, Trackio, MLflow):
    TRACKERS[_tracker.name] = _tracker


def fault_of(name: TrackerName) -> str | None:
    """
    Why the package of a tracker cannot be imported, and what to install; `None` if it
    can.
    """
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        reason = f"no module {error.name}"
    except Exception as error:  # packages fail in their own ways with others' versions
        reason = f"{type(error).__name__}: {shown(str(error))}"
    else:
        return None
    return f"{reason} (pip install {PACKAGES[name]})"


def _mlflow_name(name: str) -> str:
    """A name with the characters that MLflow takes, such as those of a metric of a label."""
    return re.sub(r"[^\w\-. :]", "_", name)
