"""The callback that reports a training to an experiment tracker."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Optional

from allennlp.training.callbacks import TrainerCallback
from overrides import overrides

from elmo_tasks.errors import InputError, shown, without_secrets
from elmo_tasks.files import write_text
from elmo_tasks.run_names import CONFIG, MODEL, TRACKED, epoch_metrics
from elmo_tasks.settings import Count, PathLike, Settings, checked, not_empty
from elmo_tasks.training.nested import mapped
from elmo_tasks.training.trackers import TRACKERS, NewRun, TrackerName

logger = logging.getLogger(__name__)


def _is_title(text: str) -> str | None:
    if 0 < len(text) <= 100 and text.isprintable() and not set(text) & set("/\\#?%:"):
        return None
    return "1 to 100 printable characters without / \\ # ? % :"


Title = Annotated[str, _is_title]
"""The name of a project or a run that every tracker takes."""


@dataclass(frozen=True, kw_only=True)
class _Record(Settings):
    """What `tracked.json` says: the tracker, the run's id there, and the epochs."""

    to: TrackerName
    id: Annotated[str, not_empty]
    epochs: Count


@TrainerCallback.register("elmo_tasks_tracker")
class Tracking(TrainerCallback):
    """
    Reports config, name and the metrics of each epoch to Weights & Biases, Trackio or
    MLflow. In distributed training the first process does.

    The metrics are the numbers of `metrics_epoch_N.json`, under the same names; the
    step is the number of finished epochs. `tracked.json` in the run's folder has the id
    of the tracked run, which a resumed training continues: it first reports the epochs
    that are still missing there.

    If the tracker fails, or `tracked.json` is damaged, one warning says so, and the
    training goes on without it. A run that was begun is ended with the training in any
    case.

    # Parameters

    - `to`: the tracker, by the name of its package.
    - `project`: the tracker's project or experiment; null: the tracker's environment
      variable, else `elmo-tasks`.
    - `name`: name of the run; null: the name of its folder.

    Raises `InputError` if the package is missing or cannot be imported.
    """

    @checked
    def __init__(
        self,
        serialization_dir: PathLike,
        to: TrackerName,
        project: Optional[Title] = None,
        name: Optional[Title] = None,
    ) -> None:
        super().__init__(serialization_dir)
        self._folder = Path(serialization_dir)
        self._project = project
        self._name = name or _name_of(self._folder)
        self._tracker = TRACKERS[to]()
        self._is_tracking = False
        self._id = ""
        self._epochs = 0

    @overrides
    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        """Called after the trainer has restored its checkpoint."""
        if is_primary:
            self._is_tracking = True
            self._try(lambda: self._start(trainer._start_after_epochs_completed))

    @overrides
    def on_epoch(
        self,
        trainer: Any,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        if self._is_tracking:
            self._try(lambda: self._report(metrics, epoch + 1))

    @overrides
    def on_end(
        self, trainer: Any, metrics: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        """Called after an error, too, and then without metrics."""
        if self._tracker.is_begun:
            self._try(lambda: self._tracker.finish(failed=metrics is None))
        self._is_tracking = False
        self._tracker.is_begun = False

    def _try(self, action: Callable[[], None]) -> None:
        """Warns of the first failure."""
        try:
            action()
        except Exception as error:
            if self._is_tracking:
                self._warn(error)
            self._is_tracking = False

    def _warn(self, error: Exception) -> None:
        name = self._tracker.name
        if isinstance(error, InputError):
            logger.warning("training continues without %s: %s", name, error)
            return
        logger.warning(
            "%s failed; training continues without it, "
            "and --recover reports the missing epochs: %s: %s",
            name,
            type(error).__name__,
            error,
        )

    def _start(self, finished: int) -> None:
        """Begins or continues the tracked run, and reports the finished epochs."""
        record = self._record()
        known = None
        if record is not None:
            known = record.id
            self._epochs = record.epochs
        run = NewRun(self._project, self._name, self._config())
        self._id = self._tracker.start(run, known)
        self._tracker.is_begun = True
        self._save()
        for epoch, file in epoch_metrics(self._folder).items():
            if epoch < finished:
                self._report(json.loads(file.read_bytes()), epoch + 1)

    def _report(self, metrics: Mapping[str, Any], step: int) -> None:
        """Reports an epoch, unless the tracker has it already."""
        numbers = {}
        for name, value in metrics.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                numbers[name] = value
        if numbers and step > self._epochs:
            self._tracker.log(numbers, step)
            self._epochs = step
            self._save()

    def _record(self) -> _Record | None:
        """
        What `tracked.json` says of a run in the same tracker, if there is one. Raises
        `InputError` if it is damaged.
        """
        file = self._folder / TRACKED
        if not file.is_file():
            return None
        text = file.read_bytes().decode(errors="replace")
        try:
            record = _Record(**json.loads(text))
        except (ValueError, TypeError, RecursionError):  # no JSON, or another object
            raise InputError(
                f"expected the tracker, id and epochs of a run, got {shown(text)}",
                file=file,
                hint="remove it; --recover then reports all epochs to another run",
            ) from None
        if record.to != self._tracker.name:
            return None
        return record

    def _save(self) -> None:
        record = {"to": self._tracker.name, "id": self._id, "epochs": self._epochs}
        write_text(self._folder / TRACKED, json.dumps(record, indent=1))

    def _config(self) -> dict[str, Any]:
        """The config of the run, without keys in its URLs."""
        found = json.loads((self._folder / CONFIG).read_bytes())
        return dict(mapped(found, _without_keys))


def _name_of(folder: Path) -> str:
    """The folder's name; of a run of a table that of the folder around it."""
    folder = folder.absolute()
    if folder.name == MODEL:
        folder = folder.parent
    return folder.name


def _without_keys(value: Any) -> Any:
    return without_secrets(value) if isinstance(value, str) else value
