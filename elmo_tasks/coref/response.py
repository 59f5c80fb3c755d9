"""Clusters -> the official response file: a key file with the predicted brackets in its last column."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any

from elmo_tasks.atomic import atomic_write
from elmo_tasks.data.files import open_text
from elmo_tasks.data.mentions import Cluster, Mention, cluster_cells
from elmo_tasks.data.ontonotes import OntonotesDocument, read_documents
from elmo_tasks.errors import InputError
from elmo_tasks.prediction.json_input import NOT_JSON, loaded

Predictions = Mapping[tuple[str, int], Sequence[Cluster]]
"""The clusters of each document, by its key and part."""

_LAST_COLUMN = re.compile(r"[^ \t]+[ \t]*$")


def write_response(key_file: str | Path, predictions: Predictions, response_file: str | Path) -> None:
    """
    Writes the file that the official scorer compares with the key: all else than the last column stays as it is.

    # Parameters

    key_file : `str` or `Path`
        In the columns of CoNLL-2012, plain or gzip.
    predictions : `Mapping[tuple[str, int], Sequence[Cluster]]`
        Of every document of the key.
    response_file : `str` or `Path`
        Replaced when the new file is whole, never before.

    # Raises

    `InputError`
        If a document has no prediction, a mention leaves its document, or a file cannot be read or written.
    """
    write_lines(response_file, response_lines(key_file, predictions))


def response_lines(key_file: str | Path, predictions: Predictions) -> Iterator[str]:
    """The lines that `write_response` writes. Raises what it does."""
    cells: dict[int, str] = {}
    for document in read_documents(key_file):
        cells.update(_document_cells(document, predictions, key_file))
    for number, line in open_text(key_file):
        yield _LAST_COLUMN.sub(cells[number], line) if number in cells else line


def write_lines(file: str | Path, lines: Iterable[str]) -> None:
    """
    Writes a text file, whole or not at all.

    # Raises

    `InputError`
        If it cannot be written.
    """
    with atomic_write(file) as aside, aside.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def read_predictions(file: str | Path) -> dict[tuple[str, int], list[Cluster]]:
    """
    The clusters in a file that `allennlp predict --use-dataset-reader` wrote, a document a line.

    # Raises

    `InputError`
        At its line, if it is no such file.
    """
    found: dict[tuple[str, int], list[Cluster]] = {}
    for number, line in open_text(file, longest=None):
        try:
            document: dict[str, Any] = loaded(line)
            name = (f"{document['key']}", index(document["part"]))
            clusters = [[_mention(mention) for mention in cluster] for cluster in document["clusters"]]
        except (*NOT_JSON, KeyError, TypeError):
            wanted = (
                "an object with key, part and clusters, as the predictor gives for a document of a file, was wanted"
            )
            raise InputError(wanted, file=file, line=number) from None
        if name in found:
            raise InputError(f"the document ({name[0]}); part {name[1]:03d} comes twice", file=file, line=number)
        found[name] = clusters
    return found


def _mention(found: Mapping[str, Any]) -> Mention:
    """Raises `KeyError` or `TypeError` where it is none."""
    return index(found["token_start"]), index(found["token_end"])


def _document_cells(document: OntonotesDocument, predictions: Predictions, file: str | Path) -> dict[int, str]:
    """The last column by line."""
    lines = [line for sentence in document.sentences for line in _lines(sentence.line, len(sentence.words))]
    name = f"the document ({document.key}); part {document.part:03d}"
    if (document.key, document.part) not in predictions:
        raise InputError(f"there is no prediction for {name}", file=file, line=lines[0])
    try:
        cells = cluster_cells(predictions[document.key, document.part], length=len(lines))
    except ValueError as error:
        raise InputError(f"the prediction for {name} does not fit: {error}", file=file, line=lines[0]) from None
    return dict(zip(lines, cells, strict=True))


def _lines(first: int, count: int) -> range:
    return range(first, first + count)
