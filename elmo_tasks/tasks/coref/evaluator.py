"""`elmo-tasks evaluate --predictions-output-file`: writes key and response for the official scorer."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from allennlp.evaluation import Evaluator

from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write
from elmo_tasks.formats.brackets import Cluster, cluster_cells
from elmo_tasks.formats.ontonotes import BEGIN_LINE, OntonotesDocument, read_documents
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.tasks.coref.reader import document_clusters
from elmo_tasks.tasks.evaluator import OfficialEvaluator

KEY_SUFFIX = ".key"
"""Appended to the name of the response file for the key file."""

_LAST_COLUMN = re.compile(r"[^ \t]+[ \t]*$")


@Evaluator.register("elmo_tasks_coref")
class CorefEvaluator(OfficialEvaluator):
    """
    Writes the response to `FILE` and the key to `FILE.key`, both atomically, so that
    `perl scorer.pl all FILE.key FILE` scores them. The key is a concatenation of the files that were read,
    without the documents whose annotation is invalid; in the response the last column is replaced. See
    `OfficialEvaluator`.
    """

    def predictions(self, batch: dict[str, Any], output: dict[str, Any]) -> list[tuple[str, str, int, list[Cluster]]]:
        """File, key and part, and the predicted clusters of each document."""
        pairs = zip(batch["metadata"], output["clusters"], strict=True)
        return [(known["file"], known["key"], known["part"], clusters) for known, clusters in pairs]

    def write(self, file: Path, predictions: Iterable[tuple[str, str, int, list[Cluster]]]) -> None:
        found: dict[str, dict[tuple[str, int], list[Cluster]]] = defaultdict(dict)
        for key_file, key, part, clusters in predictions:
            found[key_file][key, part] = clusters
        _write_lines(file, (line for key_file in found for line in response_lines(key_file, found[key_file])))
        keys = (line for key_file in found for _, line in _lines_of(key_file, found[key_file]))
        _write_lines(file.with_name(file.name + KEY_SUFFIX), keys)


def response_lines(key_file: str | Path, predictions: Mapping[tuple[str, int], Sequence[Cluster]]) -> Iterator[str]:
    """
    The lines of a key file (CoNLL-2012 columns, plain or gzip) with predicted brackets in the last column.
    `predictions` has the clusters of the documents, by key and part. A document without a prediction is left out if its
    annotation is invalid, as the reader skips it. Raises `InputError` if another one has no prediction, a mention
    exceeds its document, or the key cannot be read.
    """
    cells: dict[int, str] = {}
    for document in read_documents(key_file):
        if (document.key, document.part) in predictions or _is_valid(document):
            cells.update(_document_cells(document, predictions, key_file))
    for number, line in _lines_of(key_file, predictions):
        yield _LAST_COLUMN.sub(cells[number], line) if number in cells else line


def _lines_of(file: str | Path, documents: Collection[tuple[str, int]]) -> Iterator[tuple[int, str]]:
    """The numbered lines of a key file, without those of other documents."""
    left_out = False
    for number, line in open_text(file):
        if match := BEGIN_LINE.fullmatch(line):
            left_out = (match[1], int(match[2] or 0)) not in documents
        if not left_out:
            yield number, line


def _is_valid(document: OntonotesDocument) -> bool:
    try:
        document_clusters(document)
    except InputError:
        return False
    return True


def _document_cells(
    document: OntonotesDocument, predictions: Mapping[tuple[str, int], Sequence[Cluster]], file: str | Path
) -> dict[int, str]:
    """The last column by line number."""
    lines = [one.line + place for one in document.sentences for place in range(len(one.words))]
    name = f"the document ({document.key}); part {document.part:03d}"
    if (document.key, document.part) not in predictions:
        raise InputError(f"there is no prediction for {name}", file=file, line=lines[0])
    try:
        cells = cluster_cells(predictions[document.key, document.part], length=len(lines))
    except ValueError as error:
        raise InputError(f"the prediction for {name} does not fit: {error}", file=file, line=lines[0]) from None
    return dict(zip(lines, cells, strict=True))


def _write_lines(file: Path, lines: Iterable[str]) -> None:
    with atomic_write(file) as aside, aside.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{line}\n" for line in lines)
