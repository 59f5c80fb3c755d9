"""The files that a config names: whether they are there, and whether validation reads what tests should."""

import filecmp
import glob
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allennlp.data import DatasetReader

from elmo_tasks.checks.problem import Problem, below, shown
from elmo_tasks.data.files import missing_hint

DATA_PATHS = ("train_data_path", "validation_data_path", "test_data_path")

FILE_KEY = re.compile(r"(?!(log|out|output|save|write|result|prediction)s?_)\w+_files?|weights_file_path")
"""Keys that name what is read, whatever the class."""

VOCABULARY_KEYS = ("directory", "file", "files")

REMOTE = re.compile(r"\w+://|\(|hf://")
"""URLs, and members of archives."""

TEST_NAMES = {"test", "testb"}


def file_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """Those of files that are missing, as far as files can be told from other names."""
    ours = _is_ours(config)
    for key in DATA_PATHS:
        value = config.get(key)
        if ours and key in config and not _names_files(value, may_be_null=key != DATA_PATHS[0]):
            yield Problem(path=key, wanted="a path, or a list of paths", found=shown(value), kind="type")
            continue
        for path, name in _strings(key, value):
            if ours or _looks_like_a_file(name):
                yield from _missing(path, name, _corpus_hint(config))
    for path, name in _named_files("", {key: config[key] for key in config if key not in DATA_PATHS}):
        yield from _missing(path, name)


def paths_read(config: dict[str, Any]) -> Iterator[Path]:
    """The files and folders that a config names and that exist; patterns are expanded."""
    rest = {key: config[key] for key in config if key not in DATA_PATHS}
    named = [*_strings("", {key: config.get(key) for key in DATA_PATHS}), *_named_files("", rest)]
    for _, name in named:
        for part in _parts(name):
            yield from map(Path, [part] if part and Path(part).exists() else glob.glob(part, recursive=True))


def split_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """Those of a validation file that is the test file: epochs would be chosen by what is to be reported."""
    tests = [Path(name) for _, name in _strings("", config.get("test_data_path"))]
    for path, name in _strings("validation_data_path", config.get("validation_data_path")):
        file = Path(name)
        same = [test for test in [*tests, *_test_files_beside(file)] if _is_same(file, test)]
        if same or _is_test_name(file):
            what = f"the file of the test split, {same[0]}" if same else "a file named for the test split"
            yield Problem(
                path=path,
                wanted="another file than the one that is tested on",
                found=f"{what}" if same and same[0] == file else f"{file}, {what}",
                kind="split",
            )


def _names_files(value: Any, *, may_be_null: bool) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(part, str) for part in value)
    return isinstance(value, str) or (value is None and may_be_null)


def _strings(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """The strings of a value and of its parts."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _strings(below(path, key), part)


def _named_files(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for place, part in enumerate(value):
            yield from _named_files(below(path, place), part)
    elif isinstance(value, dict):
        for key, part in value.items():
            here = below(path, key)
            if FILE_KEY.fullmatch(key) or (path == "vocabulary" and key in VOCABULARY_KEYS):
                yield from _strings(here, part)
            else:
                yield from _named_files(here, part)


def _missing(path: str, name: str, corpus_hint: str | None = None) -> Iterator[Problem]:
    if REMOTE.match(name):
        return
    for part in _parts(name):
        if not part or not Path(part).exists() and not glob.glob(part, recursive=True):
            found = f"nothing at {part} ({missing_hint(part, corpus_hint)})" if part else '""'
            yield Problem(path=path, wanted="a file that is there", found=found, kind="file")


def _parts(name: str) -> list[str]:
    """The paths in a name: without the member of an archive, and one by one where commas separate them."""
    whole = name.partition("!")[0]
    return [whole] if Path(whole).exists() else [part.strip() for part in whole.split(",")]


def _reader(config: dict[str, Any]) -> Any:
    name = config.get("dataset_reader")
    name = name.get("type") if isinstance(name, dict) else name
    if isinstance(name, str) and name in DatasetReader.list_available():
        return DatasetReader.resolve_class_name(name)[0]
    return None


def _is_ours(config: dict[str, Any]) -> bool:
    return getattr(_reader(config), "__module__", "").split(".")[0] == __name__.split(".")[0]


def _corpus_hint(config: dict[str, Any]) -> str | None:
    """Where the reader's corpus comes from, as the reader itself says."""
    module = sys.modules.get(getattr(_reader(config), "__module__", ""))
    return getattr(module, "CORPUS_HINT", None)


def _looks_like_a_file(name: str) -> bool:
    """Readers of others may take names of other things: only what has a folder and an extension is a file."""
    return Path(name).is_absolute() or ("/" in name and Path(name).suffix != "")


def _is_test_name(file: Path) -> bool:
    words = set(re.split(r"[^a-z0-9]+", file.name.lower()))
    return bool(words & TEST_NAMES) or file.parent.name.lower() == "test"


def _test_files_beside(file: Path) -> list[Path]:
    """The files of the same folder that are named for the test split."""
    if not file.is_file():
        return []
    return sorted(other for other in file.parent.iterdir() if other.is_file() and _is_test_name(other))


def _is_same(file: Path, test: Path) -> bool:
    """Whether both are one file, or have the same bytes."""
    if file == test:
        return True
    if not file.exists() or not test.exists():
        return False
    if file.samefile(test):
        return True
    both = file.is_file() and test.is_file() and file.stat().st_size > 0
    return both and filecmp.cmp(file, test, shallow=False)
