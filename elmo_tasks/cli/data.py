"""`elmo-tasks data`: which files of the paper's corpora are below the data root, and where the others come from."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from itertools import chain, groupby
from pathlib import Path

from elmo_tasks.cli.actions import Command
from elmo_tasks.cli.downloads import fetch
from elmo_tasks.errors import InputError
from elmo_tasks.formats.corpora import CORPORA, DataFile, Download, files_of, located_name
from elmo_tasks.formats.ontonotes import find_files
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.resources import DATA_VARIABLE, data_root
from elmo_tasks.tasks import TASKS

FILES = {name: CORPORA[name] for name in [*TASKS, *CORPORA] if name in CORPORA}
"""The files of each task, then the others."""


class Data(Command):
    """`elmo-tasks data [TASK...] [--fetch]`."""

    description = (
        f"List the files that scale `paper` reads below {DATA_VARIABLE}: how much of each is there, and where the "
        "missing ones come from. Exit status 0: nothing is missing."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("tasks", metavar="TASK", nargs="*", help=f"one of {', '.join(FILES)}; default: all")
        add("--root", type=Path, help=f"the data root, instead of {DATA_VARIABLE}")
        add("--fetch", action="store_true", help="download what is missing and free; an interrupted download resumes")
        parser.set_defaults(func=report)


def report(args: argparse.Namespace) -> None:
    """
    Prints a line per file; exits with 1 if any is missing or incomplete. Raises `InputError` for an unknown task or no
    data root, or if a download fails.
    """
    root = _root(args.root)
    tasks = args.tasks or list(FILES)
    for task in tasks:
        if task not in FILES:
            raise InputError(f"expected one of {', '.join(FILES)}, got {task!r}")
    if args.fetch:
        _fetch_missing(root, tasks)
    print(f"data root: {root}")
    complete = True
    for task in tasks:
        print(task)
        for file in FILES[task]:
            found = located_name(root, file)
            line, sound = _line(root, file, found)
            complete &= sound
            print(f"  {line}", flush=True)
    sys.exit(0 if complete else 1)


def _root(given: Path | None) -> Path:
    root = data_root() if given is None else given.expanduser().absolute()
    if root is None:
        raise InputError("no data root", hint=f"set {DATA_VARIABLE} or give --root")
    if not root.is_dir():
        raise InputError("expected a folder, the data root", file=root)
    return root


def _line(root: Path, file: DataFile, found: str | None) -> tuple[str, bool]:
    """What is there of a file, and whether it is as large as the official one."""
    if found is None:
        source = file.source
        where = f"{source.url}{_size(source)}" if isinstance(source, Download) else source
        return f"{'optional' if file.optional else 'missing '} {file.name}  from {where}", file.optional
    try:
        count = COUNTERS[file.unit](files_of(root, found))
    except (ValueError, KeyError, TypeError) as error:  # also an InputError
        return f"invalid  {found}: no {file.unit} can be counted ({type(error).__name__}: {error})", False
    if file.count is None or count == file.count:
        return f"ok       {found}  {count:,} {file.unit}", True
    return f"differs  {found}  {count:,} {file.unit}, official {file.count:,}", False


def _size(download: Download) -> str:
    return "" if download.size is None else f" ({download.size:,} bytes)"


def _fetch_missing(root: Path, tasks: list[str]) -> None:
    missing = [file for task in tasks for file in FILES[task] if located_name(root, file) is None]
    for source, files in groupby(missing, key=lambda file: file.source):
        if isinstance(source, Download):
            print(f"fetching {source.url}{_size(source)}", flush=True)
            fetch(source, list(files), root)


def _lines(files: list[Path]) -> Iterator[str]:
    """The lines of the files that the readers find at these paths."""
    for file in chain.from_iterable(map(find_files, files)):
        yield from (line for _, line in open_text(file, longest=None))


def _questions(files: list[Path]) -> int:
    articles = json.loads("".join(_lines(files)))["data"]
    return sum(len(paragraph["qas"]) for article in articles for paragraph in article["paragraphs"])


def _sentences(files: list[Path]) -> int:
    """Blocks of lines between empty ones, without document marks."""
    lines = (line for line in _lines(files) if not line.startswith(("#begin document", "#end document", "-DOCSTART-")))
    return sum(filled for filled, _ in groupby(lines, key=lambda line: bool(line.strip())))


COUNTERS: dict[str, Callable[[list[Path]], int]] = {
    "questions": _questions,
    "pairs": lambda files: sum(json.loads(line)["gold_label"] != "-" for line in _lines(files) if line.strip()),
    "sentences": _sentences,
    "trees": lambda files: sum(bool(line.strip()) for line in _lines(files)),
    "lines": lambda files: sum(1 for _ in _lines(files)),
    "documents": lambda files: sum(line.startswith("#begin document") for line in _lines(files)),
    "bytes": lambda files: sum(file.stat().st_size for file in files),
    "files": len,
}
"""How each unit of `DataFile` is counted."""
