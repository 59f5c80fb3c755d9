"""The contents of an archive (`model.tar.gz`) or of a run's folder, and the config in it, which names no code."""

import importlib.util
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.common import Registrable

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetch import local_path
from elmo_tasks.formats.unpacking import require_regular, unpack
from elmo_tasks.run_names import ARCHIVE, ARCHIVED, CONFIG, META, VOCABULARY
from elmo_tasks.training.checks.files import DATA_PATHS
from elmo_tasks.training.checks.problem import below, items
from elmo_tasks.training.run_folder import RunFolder

HINT = "copy it again, or write it again with `elmo-tasks train --recover`"

DATA_LOADERS = ("data_loader", "validation_data_loader")

_MOST_JSON = 2**20  # bytes

_FEW_WORDS = 100_000


@contextmanager
def unpacked(file: str | Path) -> Iterator[Path]:
    """
    A temporary folder with the contents of an archive, or with links to those of a run's folder; its config is checked,
    and plain JSON without a layer cache. Raises `InputError` if the archive is damaged or unsafe.
    """
    folder = Path(tempfile.mkdtemp())
    try:
        source = local_path(file)
        if not source.exists():
            raise FileNotFoundError(f"file {file} not found")
        if (source / ARCHIVE).is_file() and not (source / CONFIG).is_file():
            source = source / ARCHIVE  # all that is left of a run
        _gather(source, folder)
        config = folder / CONFIG
        config.write_text(archived_config(config.read_bytes(), file), "utf-8")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _gather(source: Path, folder: Path) -> None:
    if source.is_dir():
        for path in _archived(source):
            require_regular(path)
            place = folder / path.relative_to(source)
            place.parent.mkdir(exist_ok=True)
            if path.name == CONFIG:
                shutil.copy(path, place)
            else:
                place.symlink_to(path.absolute())
    else:
        unpack(source, folder, ARCHIVED, file=source)
    sound = {
        CONFIG: (folder / CONFIG).is_file(),
        VOCABULARY: (folder / VOCABULARY).is_dir(),
    }
    if lacking := [name for name, is_there in sound.items() if not is_there]:
        raise InputError(
            f"the archive lacks {', '.join(lacking)}", file=source, hint=HINT
        )
    for name in (CONFIG, META):
        if (folder / name).is_file() and (folder / name).stat().st_size > _MOST_JSON:
            problem = f"expected a {name} of at most {_MOST_JSON:,} bytes"
            raise InputError(f"{problem} in the archive, got more", file=source)
    if source.is_file():
        _require_few_words(folder / VOCABULARY, source)


def _require_few_words(vocabulary: Path, source: Path) -> None:
    """Raises `InputError` for a vocabulary of more lines than the archive has bytes: each takes AllenNLP 100 bytes."""
    most, lines = max(_FEW_WORDS, source.stat().st_size), 0
    for file in vocabulary.iterdir():
        with file.open("rb") as opened:
            while part := opened.read(2**20):
                lines += part.count(b"\n")
    if lines > most:
        problem = f"expected vocabularies of at most {most:,} words, got {lines:,}"
        raise InputError(problem, file=source)


def _archived(run: Path) -> Iterator[Path]:
    """What an archive of a run's folder has. A hidden file, such as a lock, is of a process that uses the folder."""
    vocabulary = RunFolder(run).vocabulary()
    for pattern in ARCHIVED:
        for path in run.glob(pattern):
            is_foreign = path.parent == run / VOCABULARY and path not in vocabulary
            if not path.name.startswith(".") and not is_foreign:
                yield path


def archived_config(content: bytes, file: str | Path) -> str:
    """
    The config of an archive as canonical JSON, without the folder of the layer cache. Raises `InputError` if it is not
    a JSON object, or names code to run: a class by its Python path instead of its registered name, another archive.
    """
    try:
        config = dict(json.loads(content))
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(
            f"the archive's {CONFIG} is no JSON object: {error}",
            file=file,
            hint=HINT,
        ) from None
    registered = {name for names in Registrable._registry.values() for name in names}
    for path, key, value in _leaves("", "", config):
        if path not in DATA_PATHS and _names_code(key, value, registered):
            raise InputError(
                f"the archive's {CONFIG} names code to run, {path}: {value!r}",
                file=file,
                hint="expected a registered name; --include-package registers more",
            )
    for loader in (config.get(name) for name in DATA_LOADERS):
        if isinstance(
            loader, dict
        ):  # `evaluate` names the data, and starts no processes that an archive asks for
            loader.pop("data_path", None)
            loader.pop("num_workers", None)
    if isinstance(model := config.get("model"), dict) and isinstance(
        elmo := model.get("elmo"), dict
    ):
        elmo.pop("cache_dir", None)
    return json.dumps(config, indent=1)


def _leaves(path: str, key: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Path, key and value of everything in a config; the items of a list have the key of the list."""
    yield path, key, value
    for name, part in items(value):
        yield from _leaves(
            below(path, name), name if isinstance(name, str) else key, part
        )


def _names_code(key: str, value: Any, registered: set[str]) -> bool:
    if key in ("_pretrained", "trust_remote_code"):
        return bool(value)
    if not isinstance(value, str) or value in registered - {"from_archive"}:
        return False
    if key == "type":
        return "." in value or value == "from_archive"
    if "." not in value or "/" in value:  # AllenNLP imports no other name
        return False
    try:
        return importlib.util.find_spec(value.partition(".")[0]) is not None
    except (ImportError, ValueError, AttributeError):
        return True
