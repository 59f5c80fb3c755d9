"""The contents of an archive (`model.tar.gz`) or of a run's folder, and its config."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.fetch import local_path
from elmo_tasks.formats.json_files import parse_json, require_object
from elmo_tasks.formats.unpacking import require_regular, unpack
from elmo_tasks.system.run_names import (
    ARCHIVE,
    ARCHIVED,
    BEST,
    CONFIG,
    VOCABULARY,
)
from elmo_tasks.training.archives.registered_names import unsafe_keys
from elmo_tasks.training.config import get, write_out_types

HINT = "copy it again, or write it again with `elmo-tasks train --recover`"

DATA_LOADERS = ("data_loader", "validation_data_loader")

FROM_ARCHIVE = "from_archive"
"""The registered name of a model whose training begins with that of an archive."""


@contextmanager
def unpacked(file: str | Path) -> Iterator[Path]:
    """
    A temporary folder with the contents of an archive, or with links to those of a
    run's folder; its config is checked, and plain JSON without a layer cache. Raises
    `InputError` if the archive is damaged or unsafe.
    """
    folder = Path(tempfile.mkdtemp())
    try:
        archive = local_path(file)
        if not archive.exists():
            raise FileNotFoundError(f"file {file} not found")
        if (archive / ARCHIVE).is_file() and not (archive / BEST).is_file():
            archive = archive / ARCHIVE  # as the runs of a table are left
        _gather(archive, folder)
        config = folder / CONFIG
        text = archived_config(config.read_bytes(), file)
        for problem in unsafe_keys(json.loads(text)):
            found = f"{problem.key}: {json.dumps(problem.value)}"
            raise InputError(
                f"the archive's {CONFIG} names code to run, {found}", file=file
            )
        config.write_text(text, "utf-8")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _gather(archive: Path, folder: Path) -> None:
    """
    Unpacks an archive, or makes links to what it would have of a run's folder. A hidden
    file, such as a lock, is of a process that uses the folder. Raises `InputError` if a
    part is missing.
    """
    if archive.is_dir():
        for path in chain(*map(archive.glob, ARCHIVED)):
            if path.name.startswith("."):
                continue
            require_regular(path)
            target = folder / path.relative_to(archive)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.name == CONFIG:
                shutil.copy(path, target)
            else:
                target.symlink_to(path.absolute())
    else:
        unpack(archive, folder, ARCHIVED)
    lacking = []
    for name in (CONFIG, f"{VOCABULARY}/non_padded_namespaces.txt"):
        if not (folder / name).is_file():
            lacking.append(name)
    if lacking:
        problem = f"the archive lacks {', '.join(lacking)}"
        raise InputError(problem, file=archive, hint=HINT)


def archived_config(content: bytes, file: str | Path) -> str:
    """
    The config of an archive as canonical JSON, without the folder of the layer cache
    and without another archive with which the training began. Raises `InputError` if it
    is not a JSON object.
    """
    given = parse_json(content, f"the archive's {CONFIG}", file=file)
    config = require_object(given, f"an object in {CONFIG}", file=file)
    write_out_types(config)
    for name in DATA_LOADERS:
        loader = config.get(name)
        if isinstance(loader, dict):
            # `evaluate` names the data, and starts no processes that an archive asks
            # for.
            loader.pop("data_path", None)
            loader.pop("num_workers", None)
    if get(config, "model.type") == FROM_ARCHIVE:
        config["model"] = config["model"].get("model") or config["model"]
    _remove_caches(config.get("model"))
    return json.dumps(config, indent=1)


def _remove_caches(config: Any) -> None:
    """Opens the model of an archive without layer caches, which would be written."""
    if isinstance(config, dict):
        config.pop("cache_dir", None)
        config = list(config.values())
    if isinstance(config, list):
        for one in config:
            _remove_caches(one)
