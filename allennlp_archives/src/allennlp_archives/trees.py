"""nltk, with which allennlp-models reads trees, reads from the folders of a list."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.data import DatasetReader


def read_from_anywhere(reader: DatasetReader) -> None:
    """Lets a dataset reader read files that the user names, wherever they are."""
    read = reader._read

    def _read(file_path: Any) -> Iterator[Any]:
        with readable_by_nltk(file_path):
            yield from read(file_path)

    reader._read = _read


@contextmanager
def readable_by_nltk(file: str | Path) -> Iterator[None]:
    """Inside, nltk may read from the folder of a file that the user has named."""
    from nltk import data

    folder = str(Path(file).absolute().parent)
    data.path.append(folder)
    try:
        yield
    finally:
        data.path.remove(folder)
