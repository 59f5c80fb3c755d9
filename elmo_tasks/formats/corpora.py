"""
The files that scale `paper` reads, of all tasks, under the names of the configs and
under those of the official releases, as in `corpora.json`.

The official names of OntoNotes are those of the tree that the scripts of CoNLL-2012
make, and of the public release for OntoNotes 5.0 (Pradhan et al. 2013). The folder
`test` of the latter is another test set than CoNLL-2012's, which He et al. (2017) read.

`located` lets a reader open a release as it was unpacked.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path


@dataclass(frozen=True)
class DataFile:
    """A file, folder or pattern below the data root."""

    name: str
    """As the configs have it."""

    official: Sequence[str]
    """Other names, where `name` does not exist; patterns as for `Path.glob`."""


def _corpora() -> dict[str, tuple[DataFile, ...]]:
    corpora = {}
    text = Path(__file__).with_suffix(".json").read_text("utf-8")
    for task, files in json.loads(text).items():
        corpora[task] = tuple([DataFile(**file) for file in files])
    return corpora


CORPORA = _corpora()
"""
By task: train, dev and test; and the files of the word vectors, of the released biLM
and of its training text, and of CoVe. SQuAD's have no other names.
"""


def located(path: str | Path) -> str:
    """
    The path of a file, with `~` expanded. If nothing is there and the path is that of a
    corpus file below a data root, the path under the file's official name, if that
    exists. Patterns are returned unchanged.
    """
    given = os.path.expanduser(path)
    for file in chain.from_iterable(CORPORA.values()):
        root = given.removesuffix(f"/{file.name}")
        if root == given:
            continue
        for name in (file.name, *file.official):
            if files_of(Path(root), name):
                return f"{root}/{name}"
    return given


def files_below(folder: Path) -> Iterator[Path]:
    """The files in a folder and its subfolders, without hidden ones."""
    for file in folder.rglob("[!.]*"):
        parts = file.relative_to(folder).parts
        if file.is_file() and not any(part.startswith(".") for part in parts):
            yield file


def files_of(root: Path, name: str) -> list[Path]:
    """The files below `root` that fit `name`, a path or a pattern, sorted."""
    if re.search(r"[*?\[]", name):
        return sorted(root.glob(name))
    path = root / name
    if path.exists():
        return [path]
    return []
