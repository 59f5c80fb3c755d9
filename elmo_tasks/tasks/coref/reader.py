"""
Coreference reader: CoNLL-2012 columns -> an instance for each document (paper, appendix
A.6).
"""

import logging
from collections.abc import Hashable, Iterable, Sequence

import torch
from allennlp.data import DatasetReader, Field, Instance, Vocabulary
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import (
    LabelField,
    ListField,
    MetadataField,
    TensorField,
    TextField,
)
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.brackets import Cluster, reading_order
from elmo_tasks.formats.annotation.ontonotes import (
    NONE,
    SKELETON_HINT,
    OntonotesDocument,
    read_documents,
    report_skipped,
)
from elmo_tasks.nn.indexers import shared_token
from elmo_tasks.tasks.reader import UNKNOWN_LABEL, FirstCharacters, TaskReader
from elmo_tasks.tasks.skipped import SKIPPED, counted_first

logger = logging.getLogger(__name__)

GENRES = "genre_labels"
"""The vocabulary namespace of the genres."""

_FOLDERS = {"bc", "bn", "mz", "nw", "pt", "tc", "wb"} | {"tale"}
"""The genres of OntoNotes, and that of the synthetic corpus."""

_GUM = "academic bio conversation court essay fiction interview letter news podcast"
_GUM_GENRES = set(f"{_GUM} reddit speech textbook vlog voyage whow".split())

UNKNOWN_GENRE = ""

NO_SPEAKER = -1
"""Padding of the speakers."""

_ESCAPED = {"/.": ".", "/?": "?"}


class GenreField(LabelField):
    """
    A genre; its id is `UNKNOWN_LABEL` if the vocabulary does not have it, as is always
    so for `UNKNOWN_GENRE`.
    """

    @overrides
    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        if self.label != UNKNOWN_GENRE:
            super().count_vocab_items(counter)

    @overrides
    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(GENRES)
        self._label_id = known.get(self.label, UNKNOWN_LABEL)


@DatasetReader.register("elmo_tasks_coref")
class CorefReader(TaskReader):
    """
    Reads `*.gold_conll` and `*.v4_gold_conll` files, plain or gzip: a folder,
    recursively, or one file. Each part of a document makes an instance. Mentions may be
    nested, crossing, or duplicated; singletons are dropped. Data without any other mention
    are read for predictions.

    A document whose brackets are invalid is skipped with a warning, and counted in the
    metrics. Mentions may cross the end of a sentence; no model can find these, but they
    count. `kwargs`: see `TaskReader`.

    The genre is in the key of a document, see `genre_of`. A warning counts the
    documents without one, which share an embedding.
    """

    characters = FirstCharacters()
    widest_filter = 5

    @property
    @overrides
    def words_hint(self) -> str:
        return SKELETON_HINT

    @overrides
    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """Raises `InputError` with file and line, if a file is invalid."""
        documents = []
        clusters: list[list[Cluster] | None] = []
        skipped = []
        for document in read_documents(file_path):
            try:
                clusters.append(document_clusters(document))
                documents.append(document)
            except InputError as error:
                skipped.append(error)
        report_skipped(skipped, "documents", path=str(file_path), kept=len(documents))
        _report_genres(documents, path=str(file_path))
        annotated = any(len(one) > 1 for gold in clusters for one in gold or ())
        counted = counted_first(len(skipped), len(documents))
        for document, gold, left_out in self.shard_iterable(
            zip(documents, clusters, counted, strict=True)
        ):
            if not annotated:
                gold = None
            yield self.text_to_instance(
                [sentence.words for sentence in document.sentences],
                speakers=[sentence.speakers for sentence in document.sentences],
                genre=genre_of(document.key),
                clusters=gold,
                key=document.key,
                part=document.part,
                file=document.sentences[0].file,
                line=document.sentences[0].line,
                skipped=left_out,
            )

    def unit_of(self, instance: Instance) -> Hashable:
        """The document, with all its parts."""
        return instance["metadata"]["key"]

    @overrides(check_signature=False)
    def text_to_instance(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        speakers: Sequence[Sequence[str]] | None = None,
        genre: str = UNKNOWN_GENRE,
        clusters: Sequence[Cluster] | None = None,
        key: str | None = None,
        part: int | None = None,
        file: str | None = None,
        line: int | None = None,
        skipped: int = 0,
    ) -> Instance:
        """
        S sentences of words, N in all, and if known the speaker of each word (by
        default all have the same one), the genre, such as `nw`, and the gold clusters,
        of which singletons are dropped; the others name and locate the document, and
        `skipped` is the number of documents of the file that were left out and are
        counted here.

        Returns an instance with the fields `text` (S sentences), `speakers` (ids of N
        words), `genre`, and `metadata`, a dictionary of `sentences`, `clusters`, `key`,
        `part`, `file` and `line`, None where unknown, and `skipped`. Raises
        `InputError` if a sentence or the document is empty, or the speakers do not
        match the words.
        """
        words = [
            [_ESCAPED.get(word, word) for word in sentence] for sentence in sentences
        ]
        if not words or not all(words):
            problem = "expected at least one sentence, and at least one word in each"
            raise InputError(f"{problem} sentence", file=file, line=line)
        if speakers is None:
            speakers = [[NONE] * len(sentence) for sentence in words]
        if list(map(len, words)) != list(map(len, speakers)):
            problem = "expected one speaker for each word of each sentence"
            raise InputError(problem, file=file, line=line)
        gold: list[Cluster] | None = None
        if clusters is not None:
            gold = [cluster for cluster in clusters if len(cluster) > 1]
        known = {
            "sentences": words,
            "clusters": gold,
            "key": key,
            "part": part,
            "file": file,
            "line": line,
            SKIPPED: skipped,
        }
        texts: list[Field] = [
            TextField([shared_token(word) for word in sentence]) for sentence in words
        ]
        fields: dict[str, Field] = {
            "text": ListField(texts),
            "speakers": TensorField(_numbers(speakers), padding_value=NO_SPEAKER),
            "genre": GenreField(genre, label_namespace=GENRES),
            "metadata": MetadataField(known),
        }
        return Instance(fields)


def _numbers(speakers: Sequence[Sequence[str]]) -> torch.Tensor:
    """An id [N] for each word's speaker, in the order in which they speak first."""
    ids: dict[str, int] = {}
    numbers = []
    for of_sentence in speakers:
        for speaker in of_sentence:
            numbers.append(ids.setdefault(speaker, len(ids)))
    return torch.tensor(numbers)


def document_clusters(document: OntonotesDocument) -> list[Cluster]:
    """
    The gold clusters of a document, including singletons and repeated mentions, in the
    order in which the official scorer reads them (`reading_order`). Raises `InputError`
    if brackets do not match.
    """
    found: dict[str, Cluster] = {}
    mentions = sorted(document.mentions(), key=lambda span: reading_order(span[:2]))
    for start, end, label in mentions:
        found.setdefault(label, []).append((start, end))
    return [sorted(cluster) for cluster in found.values()]


def _report_genres(documents: Sequence[OntonotesDocument], *, path: str) -> None:
    """Warns of documents without a genre."""
    keys = [document.key for document in documents]
    unknown = [key for key in keys if genre_of(key) == UNKNOWN_GENRE]
    if unknown:
        message = "%s: the keys of %d of %d documents, such as (%s), name no genre of OntoNotes or GUM"
        logger.warning(message, path, len(unknown), len(keys), unknown[0])


def genre_of(key: str) -> str:
    """
    The genre in the key of a document of OntoNotes or GUM: `bc` of
    `bc/cctv/00/cctv_0000`, `academic` of `GUM_academic_exposure`; `UNKNOWN_GENRE` of
    any other key.
    """
    folder, slash, _ = key.partition("/")
    if slash and folder in _FOLDERS:
        return folder
    corpus, _, rest = key.partition("_")
    genre = rest.split("_")[0]
    if corpus == "GUM" and genre in _GUM_GENRES:
        return genre
    return UNKNOWN_GENRE
