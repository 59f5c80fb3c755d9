"""
Base class of the readers of OntoNotes, which read all documents before the first
instance.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from overrides import overrides

from elmo_tasks.formats.annotation.ontonotes import OntonotesDocument, read_documents
from elmo_tasks.tasks.reader import TaskReader

_SKELETON = (
    "the words are in column 4; a skeleton has [WORD] there, until skeleton2conll.sh of"
    " CoNLL-2012 puts in those of OntoNotes"
)


class DocumentReader(TaskReader):
    """
    Reads `*.gold_conll` and `*.v4_gold_conll` files, plain or gzip: a folder,
    recursively, or one file. The first instance depends on all documents: how many are
    skipped, and whether any is annotated. `kwargs`: see `TaskReader`.
    """

    _most_documents: int | None = None

    @property
    @overrides
    def words_hint(self) -> str:
        return _SKELETON

    def limit_to_sample(self, count: int) -> None:
        """Read so many documents at most, for the check before a training."""
        self._most_documents = count

    def documents(self, path: str | Path) -> Iterator[OntonotesDocument]:
        """
        The documents, of a sample the first ones. Raises `InputError` as
        `read_documents` does.
        """
        return islice(read_documents(path), self._most_documents)
