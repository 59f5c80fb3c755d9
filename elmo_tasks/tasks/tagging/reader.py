"""CoNLL-U or any column file -> instances with a tag for each word."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional, Union

from allennlp.data import DatasetReader, Instance, Token, Vocabulary
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import SequenceField
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.columns import read_columns
from elmo_tasks.formats.annotation.spans import (
    Scheme,
    detect_scheme,
    spans_from_tags,
    to_bioul,
)
from elmo_tasks.formats.annotation.tagged import Tag as TagName
from elmo_tasks.formats.annotation.tagged import read_tagged
from elmo_tasks.formats.text.raw_text import blank_pipeline
from elmo_tasks.settings import Column, Wrong, WrongValues, checked
from elmo_tasks.tasks.reader import (
    LABEL_NAMESPACE,
    FirstCharacters,
    OpenSequenceLabelField,
    TaskReader,
    tagged_fields,
)

Tag = Union[TagName, Column]

SCHEMES = "span_schemes"
"""
The vocabulary namespace of the schemes that encode the spans of the data; that of the
training data is the first.
"""


class SpanTags(OpenSequenceLabelField):
    """Tags in BIOUL, of a file with this scheme, which the vocabulary keeps."""

    def __init__(
        self, tags: Sequence[str], text: SequenceField, scheme: Scheme
    ) -> None:
        super().__init__(tags, text, label_namespace=LABEL_NAMESPACE)
        self._scheme = scheme

    @overrides
    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        super().count_vocab_items(counter)
        counter[SCHEMES].setdefault(
            self._scheme.name, 1
        )  # the first one stays the first


def as_trained(tags: Sequence[str], vocab: Vocabulary) -> list[str]:
    """
    A model's tags in the scheme of its training data, legal ones; as they are if they
    encode no spans.
    """
    if SCHEMES not in vocab.get_namespaces():  # which a look-up would add
        return list(tags)
    for name in vocab.get_token_to_index_vocabulary(SCHEMES):
        if name in Scheme.__members__:
            return Scheme[name].encode(spans_from_tags(tags), len(tags))
    return list(tags)


@DatasetReader.register("elmo_tasks_tagger")
class ColumnReader(TaskReader):
    """
    Reads sentences with a tag for each word, plain or gzip.

    # Parameters

    - `tag`: for CoNLL-U, `upos`, `xpos`, `lemma`, `deprel` or a feature such as
      `feats:Case` (`_` for a word without it). For files with other columns, the number
      of the tags' column: 0 is the first, -1 the last.
    - `word`: the number of the words' column; 0 is the first. Not for CoNLL-U.
    - `spans`: if true, the tags of a column encode spans in IOB1, BIO, BIOUL, BIOES or
      BMES, with or without types. The scheme is detected from the whole file,
      regardless of `max_instances`. The tags become BIOUL; predictions have those of the
      training data's scheme. Not for CoNLL-U.
    - `comments`: if true, lines before a sentence that begin with `#` are comments; if
      false, they are tokens. Not for CoNLL-U.
    - `language`: the code of the spaCy rules that split raw text in predictions.
    - `kwargs`: see `TaskReader`.

    Raises `InputError` if `spans` is true or `comments` is set for CoNLL-U. While
    reading: whatever `read_tagged`, `read_columns` or `detect_scheme` raises; if a line
    has no such column.
    """

    characters = FirstCharacters(marked=True)
    widest_filter = 3

    corpus_hint: Optional[str] = None
    """Where to get the corpus, for errors."""

    @checked
    def __init__(
        self,
        *,
        tag: Tag = "upos",
        word: Column = 0,
        spans: bool = False,
        comments: bool = False,
        language: str = "en",
        **kwargs: Any,
    ) -> None:
        if isinstance(tag, str):
            wanted = "the number of a column where"
            if spans:
                raise WrongValues([Wrong("tag", f"{wanted} spans is true", tag)])
            if comments:
                raise WrongValues([Wrong("tag", f"{wanted} comments is set", tag)])
        super().__init__(**kwargs)
        self._tag = tag
        self._word = word
        self.spans = spans
        self._comments = comments
        self.language = language
        if language != "en":
            blank_pipeline(language)

    @property
    @overrides
    def words_hint(self) -> str:
        hint = super().words_hint
        if isinstance(self._tag, int):
            column = "the number of the column of the words, counted from 0"
            hint = f"dataset_reader.word, here {self._word}, is {column}; {hint}"
        return hint

    @overrides
    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        file = str(file_path)
        sentences = list(self._sentences(file))
        scheme = None
        if self.spans:  # to_bioul also reads mixed schemes
            tags_of_lines = [(line, tags) for _, tags, line in sentences]
            scheme = detect_scheme(tags_of_lines, file=file)
        for words, tags, line in self.shard_iterable(sentences):
            if scheme is not None:
                tags = to_bioul(tags)
            instance = self.text_to_instance(words, tags, file=file, line=line)
            if scheme is not None:
                instance.fields["tags"] = SpanTags(tags, instance["tokens"], scheme)
            yield instance

    def _sentences(
        self, file: str
    ) -> Iterator[tuple[Sequence[str], Sequence[str], int]]:
        """Words, tags, and the line of the first word."""
        if isinstance(self._tag, str):
            yield from read_tagged(file, tag=self._tag)
            return
        for sentence in read_columns(
            file, corpus_hint=self.corpus_hint, comments=self._comments
        ):
            columns = sentence.columns
            try:
                words = columns[self._word]
                tags = columns[self._tag]
            except IndexError:
                wanted = f"columns {self._word} and {self._tag} (tag), counted from 0"
                problem = f"expected {wanted}, got {len(columns)}"
                raise InputError(problem, file=file, line=sentence.line) from None
            if words is tags:
                problem = f"expected two columns, got {self._word} for words and tags"
                hint = "set dataset_reader.word or dataset_reader.tag"
                raise InputError(problem, file=file, line=sentence.line, hint=hint)
            yield words, tags, sentence.line

    @overrides(check_signature=False)
    def text_to_instance(
        self,
        tokens: Sequence[str | Token],
        tags: Sequence[str] | None = None,
        *,
        file: str | None = None,
        line: int | None = None,
    ) -> Instance:
        """
        T words and, if known, T gold tags, of spans in BIOUL; `file` and `line` locate
        the sentence.

        Returns an instance with the fields `tokens` (T tokens), `tags` (T labels, if
        given, which need not be in the vocabulary), and `metadata`, a dictionary of
        `words`, `tags`, `file` and `line`, None if not given. Raises `InputError` if
        there is no token, or not one tag for each.
        """
        made = []
        for word in tokens:
            if not isinstance(word, Token):
                word = Token(word)
            made.append(word)
        known = {"words": [token.text for token in made]}
        return Instance(tagged_fields(made, tags, known, file=file, line=line))


@DatasetReader.register("elmo_tasks_ner")
class NerReader(ColumnReader):
    """
    `elmo_tasks_tagger` with other defaults: the word is the first column, its tag the
    last, and tags encode spans.
    """

    corpus_hint = (
        "CoNLL-2003 has its annotation from https://www.clips.uantwerpen.be/conll2003/ner/ "
        "and its text from the Reuters Corpus RCV1, on request from NIST"
    )

    @checked
    def __init__(self, *, tag: Tag = -1, spans: bool = True, **kwargs: Any) -> None:
        super().__init__(tag=tag, spans=spans, **kwargs)
