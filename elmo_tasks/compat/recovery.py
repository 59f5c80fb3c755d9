"""What `--recover` finds in a run's folder: nothing yet, another configuration, or a run to go on with."""

import functools
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allennlp.commands import train
from allennlp.common import Params
from allennlp.common import util as common_util
from allennlp.models import archival
from allennlp.training import util as training_util

from elmo_tasks.atomic import leftovers, written_aside
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

SHOWN = 5
"""How many differences between two configurations an error lists."""

ABSENT = object()


def prepared(create: Callable[..., None]) -> Callable[..., None]:
    """`create_serialization_dir` that begins a run where none has, and tells how a configuration differs."""

    @functools.wraps(create)
    def create_serialization_dir(
        params: Params, serialization_dir: str | os.PathLike[str], recover: bool, force: bool
    ) -> None:
        folder = Path(serialization_dir)
        if recover and not force and folder.is_dir():
            for file in leftovers(folder):
                file.unlink(missing_ok=True)
            if not any(folder.iterdir()):
                logger.info("the run in %s had not begun: it begins now", folder)
                recover = False
            elif (folder / archival.CONFIG_NAME).is_file():
                require_same(params, folder / archival.CONFIG_NAME)
        create(params, serialization_dir, recover, force)

    return create_serialization_dir


def require_same(params: Params, file: Path) -> None:
    """
    # Raises

    `InputError`
        where the run in this folder was begun with another configuration.
    """
    now, then = params.as_flat_dict(), Params.from_file(file).as_flat_dict()
    differing = [
        f"{key} was {_shown(then, key)}, is {_shown(now, key)}"
        for key in sorted(now.keys() | then.keys())
        if now.get(key, ABSENT) != then.get(key, ABSENT)
    ]
    if differing:
        more = f"; and {len(differing) - SHOWN} more" if len(differing) > SHOWN else ""
        raise InputError(
            f"the run was begun with another configuration: {'; '.join(differing[:SHOWN])}{more}",
            file=file,
            hint="--recover goes on with this very file as its configuration; a changed run needs a folder of its own",
        )


def _shown(flat: dict[str, Any], key: str) -> str:
    return repr(flat[key]) if key in flat else "absent"


def whole_config(write: Callable[..., None]) -> Callable[..., None]:
    """`Params.to_file` that leaves the old file or the new one, nothing between."""

    @functools.wraps(write)
    def to_file(self: Params, params_file: str, *arguments: Any, **options: Any) -> None:
        with written_aside(params_file) as aside:
            write(self, str(aside), *arguments, **options)

    return to_file


def whole_metrics(dump: Callable[..., None]) -> Callable[..., None]:
    """The same for `dump_metrics`."""

    @functools.wraps(dump)
    def dump_metrics(file_path: str | None, metrics: dict[str, Any], log: bool = False) -> None:
        if not file_path:
            dump(file_path, metrics, log)
            return
        with written_aside(file_path) as aside:
            dump(str(aside), metrics, log)

    return dump_metrics


def whole_archive(archive: Callable[..., str]) -> Callable[..., str]:
    """The same for `archive_model` as a training calls it: a `model.tar.gz` is there when it is whole."""

    @functools.wraps(archive)
    def archive_model(serialization_dir: str | os.PathLike[str], *arguments: Any, **options: Any) -> str:
        if len(arguments) > 1 or "archive_path" in options:
            return archive(serialization_dir, *arguments, **options)
        target = Path(serialization_dir) / "model.tar.gz"
        with written_aside(target) as aside:
            archive(serialization_dir, *arguments, archive_path=str(aside), **options)
        return str(target)

    return archive_model


def begin_or_go_on() -> None:
    """
    Lets `--recover` follow a kill at the very beginning or the very end of a run.

    AllenNLP makes the folder first and writes `config.json`, metrics and archive in place: killed
    there, a run cannot be resumed, or looks finished and is not. Where the configuration has changed
    the error names the keys. It can go when AllenNLP renames these files into their places.
    """
    if hasattr(training_util.create_serialization_dir, "__wrapped__"):
        return
    training_util.create_serialization_dir = prepared(training_util.create_serialization_dir)
    Params.to_file = whole_config(Params.to_file)
    common_util.dump_metrics = whole_metrics(common_util.dump_metrics)
    train.archive_model = whole_archive(train.archive_model)
