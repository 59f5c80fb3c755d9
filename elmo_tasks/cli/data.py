"""`elmo-tasks data`: which files of the paper's corpora are below the data root; downloads of the others."""

import argparse
import hashlib
import json
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path, PurePosixPath
from typing import IO

from elmo_tasks.cli.actions import Command
from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write
from elmo_tasks.formats.corpora import CORPORA, DataFile, Download, files_of, located_name
from elmo_tasks.formats.ontonotes import find_files
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.formats.unpacking import check_ratio, unpack
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


def fetch(source: Download, files: Sequence[DataFile], root: Path) -> None:
    """
    Downloads the source of some files to `root/downloads`, and puts the files in their places. Raises `InputError` if
    the download fails, or does not have the expected size or sha256; what has been downloaded
    stays, and the next call resumes.
    """
    target = root / "downloads" / PurePosixPath(source.url).name
    target.parent.mkdir(exist_ok=True)
    if not target.exists():
        part = target.with_name(f"{target.name}.part")
        _download(source, part)
        part.rename(target)
    if target.suffix == ".zip":
        _unzip(target, files, root)
    elif target.name.endswith(".tar.gz"):
        names = [name.removeprefix("lm/") for file in files for name in file.official if name.startswith("lm/")]
        unpack(target, root / "lm", names, file=target)
    else:
        _copy(target.open("rb"), root / files[0].name)


def _download(source: Download, part: Path) -> None:
    """Appends to `part` what is missing of it, and verifies it."""
    from huggingface_hub.file_download import http_get

    begin = part.stat().st_size if part.exists() else 0
    try:
        with part.open("ab") as out:
            http_get(source.url, out, resume_size=begin, expected_size=source.size)
    except OSError as error:
        hint = f"call again to resume, or remove {part}"
        raise InputError(f"cannot download {source.url}: {error}", hint=hint) from error
    with part.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if source.sha256 not in (None, found):
        raise InputError(
            f"expected sha256 {source.sha256}, got {found}", file=part, hint="remove the file and call again"
        )


def _unzip(archive: Path, files: Sequence[DataFile], root: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        for file in files:
            name = PurePosixPath(file.name).name
            members = [member for member in packed.namelist() if PurePosixPath(member).name == name]
            if not members:
                raise InputError(f"expected a member {name}", file=archive)
            member = packed.getinfo(min(members, key=len))
            check_ratio(member.file_size, member.compress_size, archive)
            _copy(packed.open(member), root / file.name)


def _copy(source: IO[bytes], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with source, atomic_write(target) as aside, aside.open("wb") as out:
        shutil.copyfileobj(source, out)
