"""First step of coreference: CoNLL-2012 columns to an instance for each document (paper, appendix A.6)."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from allennlp.data import DatasetReader, Field, Instance, Token, TokenIndexer, Vocabulary
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import LabelField, ListField, MetadataField, TensorField, TextField
from allennlp.data.token_indexers import TokenCharactersIndexer

from elmo_tasks.coref.clusters import clusters_by_label, without_singletons
from elmo_tasks.data.labels import UNKNOWN_LABEL
from elmo_tasks.data.mentions import Cluster, Mention
from elmo_tasks.data.ontonotes import NONE, OntonotesDocument, find_files, read_documents
from elmo_tasks.data.tokenizer import FirstCharacters
from elmo_tasks.data.words import WordIndexer
from elmo_tasks.elmo.indexer import CharacterIndexer
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

GENRES = "genre_labels"
"""The part of the vocabulary that holds the genres."""

UNKNOWN_GENRE = ""

NO_SPEAKER = -1
"""Stands in the padding of the speakers."""

WIDEST_FILTER = 5
"""Words have as many characters at least, so that each filter of the character CNN fits on them."""

_ESCAPED = {"/.": ".", "/?": "?"}


class GenreField(LabelField):
    """A genre: one that the vocabulary lacks gets `UNKNOWN_LABEL`; `UNKNOWN_GENRE` never enters it."""

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        """Counts the genre if it is known."""
        if self.label != UNKNOWN_GENRE:
            super().count_vocab_items(counter)

    def index(self, vocab: Vocabulary) -> None:
        """Looks the genre up; it is kept as a string, too."""
        self._label_id = vocab.get_token_to_index_vocabulary(GENRES).get(self.label, UNKNOWN_LABEL)


@DatasetReader.register("elmo_tasks_coref")
class CorefReader(DatasetReader):
    """
    Reads a folder of `*.gold_conll` or `*.v4_gold_conll` files (with the folders below it), a pattern, or one file;
    plain or gzip. Each part of a document makes an instance. Mentions may be nested, cross, or stand twice; those
    that are alone in their cluster are left out, since nothing scores them. Files in which no mention at all is marked
    are read for predictions.

    # Parameters

    token_indexers : `dict[str, TokenIndexer]`, optional
        By default `tokens` (word ids), `token_characters` (for the character CNN) and `elmo` (the biLM's characters).
    """

    def __init__(self, *, token_indexers: dict[str, TokenIndexer] | None = None, **kwargs: Any) -> None:
        super().__init__(manual_distributed_sharding=True, manual_multiprocess_sharding=True, **kwargs)
        self._token_indexers = token_indexers or _default_indexers()

    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """
        # Raises

        `InputError`
            With file and line, and the document's name, if brackets do not match; besides, whatever `find_files` and
            `read_documents` raise.
        """
        documents = [document for file in find_files(file_path) for document in read_documents(file)]
        clusters = [document_clusters(document) for document in documents]
        _log_counts(str(file_path), documents, clusters)
        annotated = any(clusters)
        for document, gold in self.shard_iterable(zip(documents, clusters, strict=True)):
            yield self._instance(document, gold if annotated else None)

    def _instance(self, document: OntonotesDocument, gold: list[Cluster] | None) -> Instance:
        first = document.sentences[0]
        return self.text_to_instance(
            [sentence.words for sentence in document.sentences],
            speakers=[sentence.speakers for sentence in document.sentences],
            genre=genre_of(document.key),
            clusters=gold,
            key=document.key,
            part=document.part,
            file=first.file,
            line=first.line,
        )

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
    ) -> Instance:
        """
        # Parameters

        sentences : `Sequence[Sequence[str]]`
            S sentences of words, N in all.
        speakers : `Sequence[Sequence[str]]`, optional
            Who says each word; by default all have the same speaker.
        genre : `str`
            Such as `nw`.
        clusters : `Sequence[Cluster]`, optional
            The gold clusters; those of a single mention are left out.
        key, part, file, line : optional
            What the document is called, and where it stands.

        # Returns

        `Instance`
            With the fields `text` (S sentences), `speakers` (a number for each of N words), `genre`, and `metadata`,
            a dictionary of `sentences`, `clusters`, `key`, `part`, `file` and `line`; what is not known is None there.

        # Raises

        `InputError`
            If there is no sentence, one has no word, there is not one speaker for each word, or a mention leaves the
            document.
        """
        words = [[_ESCAPED.get(word, word) for word in sentence] for sentence in sentences]
        said_by = [[NONE] * len(sentence) for sentence in words] if speakers is None else speakers
        gold = None if clusters is None else without_singletons(clusters)
        try:
            _check(words, said_by, gold or [])
        except ValueError as error:
            raise InputError(str(error), file=file, line=line) from None
        numbers = torch.tensor(_numbered([speaker for sentence in said_by for speaker in sentence]))  # [N]
        known = {"sentences": words, "clusters": gold, "key": key, "part": part, "file": file, "line": line}
        fields: dict[str, Field] = {
            "text": ListField([TextField([Token(word) for word in sentence]) for sentence in words]),
            "speakers": TensorField(numbers, padding_value=NO_SPEAKER),
            "genre": GenreField(genre, label_namespace=GENRES),
            "metadata": MetadataField(known),
        }
        return Instance(fields)

    def apply_token_indexers(self, instance: Instance) -> None:
        """Gives the text fields their indexers, which do not travel between processes."""
        for sentence in instance.fields["text"]:
            sentence.token_indexers = self._token_indexers


def document_clusters(document: OntonotesDocument) -> list[Cluster]:
    """
    The gold clusters of a document, singletons too.

    # Raises

    `InputError`
        With file, line and the document's name, if brackets do not match.
    """
    return clusters_by_label(_labelled_mentions(document))


def genre_of(key: str) -> str:
    """The genre in a document's key: `bc` of `bc/cctv/00/cctv_0000`, `academic` of `GUM_academic_exposure`."""
    before, slash, _ = key.partition("/")
    if slash:
        return before
    parts = key.split("_")
    return parts[1] if len(parts) > 1 else UNKNOWN_GENRE


def _labelled_mentions(document: OntonotesDocument) -> Iterator[tuple[Mention, str]]:
    offset, name = 0, f"coreference of the document ({document.key}); part {document.part:03d}"
    for sentence in document.sentences:
        spans = sentence.mentions(of=name)
        yield from (((offset + span.start, offset + span.end), span.label) for span in spans)
        offset += len(sentence.words)


def _check(words: Sequence[Sequence[str]], speakers: Sequence[Sequence[str]], clusters: Iterable[Cluster]) -> None:
    if not words or not all(words):
        raise ValueError("a document needs a sentence at least, and each sentence a word")
    if [len(sentence) for sentence in words] != [len(sentence) for sentence in speakers]:
        raise ValueError("there must be a speaker for each word of each sentence")
    length = sum(len(sentence) for sentence in words)
    for start, end in (mention for cluster in clusters for mention in cluster):
        if not 0 <= start < end <= length:
            raise ValueError(f"the mention of words {start} to {end} leaves a document of {length} words")


def _numbered(speakers: Sequence[str]) -> list[int]:
    """Each speaker's number, from 0 on."""
    numbers = {speaker: number for number, speaker in enumerate(dict.fromkeys(speakers))}
    return [numbers[speaker] for speaker in speakers]


def _default_indexers() -> dict[str, TokenIndexer]:
    return {
        "tokens": WordIndexer(),
        "token_characters": TokenCharactersIndexer(
            character_tokenizer=FirstCharacters(), min_padding_length=WIDEST_FILTER
        ),
        "elmo": CharacterIndexer(),
    }


def _log_counts(path: str, documents: Sequence[OntonotesDocument], clusters: Sequence[list[Cluster]]) -> None:
    scored = [cluster for gold in clusters for cluster in without_singletons(gold)]
    logger.info(
        "%s: %d documents, %d sentences, %d words, %d clusters of %d mentions, %d singletons left out",
        path,
        len(documents),
        sum(len(document.sentences) for document in documents),
        sum(len(sentence.words) for document in documents for sentence in document.sentences),
        len(scored),
        sum(len(cluster) for cluster in scored),
        sum(len(gold) for gold in clusters) - len(scored),
    )
