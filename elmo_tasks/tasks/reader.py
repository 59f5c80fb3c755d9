"""
The base class of all readers: token indexers of text fields, sentences with tags, and
labels of the vocabulary; and tokenizers that need no downloaded model.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Optional, Protocol, runtime_checkable

from allennlp.data import (
    DatasetReader,
    Field,
    Instance,
    Token,
    TokenIndexer,
    Vocabulary,
)
from allennlp.data.dataset_readers.dataset_reader import DatasetReaderInput
from allennlp.data.fields import MetadataField, SequenceLabelField, TextField
from allennlp.data.token_indexers import TokenCharactersIndexer
from allennlp.data.tokenizers import CharacterTokenizer, Tokenizer
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.raw_text import blank_pipeline
from elmo_tasks.nn.indexers import CharacterIndexer, WordIndexer
from elmo_tasks.nn.input_encoder import CHARACTERS, WORDS
from elmo_tasks.settings import ListOf, PathLike, Size, checked
from elmo_tasks.training.data.first_look import looked_at, text_fields

LABEL_NAMESPACE = "labels"
"""The vocabulary namespace of labels and tags."""

UNKNOWN_LABEL = -1
"""The index of a label that is not in the vocabulary."""

TWO_INDEXERS = (
    "lookup_files: expected none next to token_indexers, which have their own"
)


@runtime_checkable
class LanguageReader(Protocol):
    """A dataset reader that says of which language raw text in predictions is."""

    language: str
    """The code of spaCy's rules."""


@runtime_checkable
class SpanReader(Protocol):
    """A dataset reader that says whether the tags encode spans."""

    spans: bool


def complete_labels(vocab: Vocabulary, expected: Iterable[str] = ()) -> list[str]:
    """
    All labels by id, after adding the expected ones that do not occur in the data.
    AllenNLP saves the vocabulary, and indexes the data, after constructing the model.
    """
    for label in expected:
        vocab.add_token_to_namespace(label, LABEL_NAMESPACE)
    return list(vocab.get_token_to_index_vocabulary(LABEL_NAMESPACE))


class OpenSequenceLabelField(SequenceLabelField):
    """
    AllenNLP's field, except that labels outside the vocabulary have the index
    `UNKNOWN_LABEL` instead of raising a `KeyError`, so that a model can be evaluated on
    a corpus with more labels.
    """

    @overrides
    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        ids = [known.get(label, UNKNOWN_LABEL) for label in self.labels]
        self._indexed_labels = ids


_UNSPLIT = re.compile(
    # Thai, Lao, Myanmar, Khmer, Japanese and Chinese
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{8}"
)


def is_unsplit(word: str) -> bool:
    """
    Whether a word has eight letters in a row of a script without blanks between words,
    as a clause has and hardly a word.
    """
    return not word.isascii() and _UNSPLIT.search(word) is not None


@Tokenizer.register("elmo_tasks_spacy")
class BlankSpacyTokenizer(Tokenizer):
    """
    spaCy's tokenization rules for a `language` (see `blank_pipeline`), without a model
    and without a maximum length.

    AllenNLP's `spacy` tokenizer downloads a model in its constructor, so that archives
    would not load offline. Tokens have offsets: `text[token.idx : token.idx_end] ==
    token.text`. White space is not a token.

    # Parameters

    - `language`: spaCy's code of the language, such as `en`.
    """

    @checked
    def __init__(self, language: str = "en") -> None:
        self._language = language

    @cached_property
    def _split(self) -> Callable[[str], Iterable[Any]]:
        """Text -> words; importing spaCy takes a while, and words need no splitting."""
        return blank_pipeline(self._language).tokenizer

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        """The tokens of `text`; none for white space."""
        tokens = []
        for word in self._split(text):
            if not word.is_space:
                end = word.idx + len(word.text)
                tokens.append(Token(word.text, idx=word.idx, idx_end=end))
        return tokens

    def words(self, text: str) -> list[str]:
        """The texts of the tokens."""
        return [token.ensure_text() for token in self.tokenize(text)]


class FirstCharacters(CharacterTokenizer):
    """
    The first characters of a word, for a character CNN: a batch is as wide as its
    longest word, and web text contains words of thousands of characters. The default
    `limit` is that of AllenNLP's ELMo; `marked` adds `<w>` before and `</w>` after
    them.
    """

    def __init__(self, *, limit: int = 50, marked: bool = False) -> None:
        if marked:
            super().__init__(start_tokens=["<w>"], end_tokens=["</w>"])
        else:
            super().__init__()
        self._limit = limit

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        tokens: list[Token] = super().tokenize(text[: self._limit])
        return tokens


def offsets_of(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """The first character of each token, and the one after its last."""
    return [(token.idx, token.idx_end) for token in tokens]


class TaskReader(DatasetReader):
    """
    The keys of a text field, each with an indexer here and an embedder in the config of
    the model:

    | key | indexer | embedder |
    |---|---|---|
    | `tokens` | word ids | `model.text_field_embedder.token_embedders.tokens` |
    | `token_characters` | the `characters` of a word, if any | `....token_characters`, a character CNN |
    | `elmo` | the biLM's characters | `model.elmo` |

    A subclass adds others in `default_indexers`.

    # Parameters

    - `token_indexers`: replaces the default token indexers: `tokens` (word ids), `elmo`
      (the biLM's characters) and, for a model with a character CNN, `token_characters`.
    - `lookup_files`: the `lookup_file` of the word vectors, in a list: the vectors of words
      outside the vocabulary are read from it. One for each of the `parts` of
      `elmo_tasks_concatenated_vectors`.
    - `max_instances`: largest number of instances to read, from the start of the data.
    - `kwargs`: see `DatasetReader`.
    """

    characters: ClassVar[FirstCharacters | None] = None
    """The characters of a word that the character CNN reads."""

    widest_filter: ClassVar[int] = 1
    """
    Words are padded to at least so many characters, for the widest filter of that CNN.
    """

    @checked
    def __init__(
        self,
        *,
        token_indexers: Optional[dict[str, TokenIndexer]] = None,
        lookup_files: Optional[ListOf[PathLike]] = None,
        max_instances: Optional[Size] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            max_instances=max_instances,
            manual_distributed_sharding=True,
            manual_multiprocess_sharding=True,
            **kwargs,
        )
        if token_indexers and lookup_files:
            raise InputError(TWO_INDEXERS)
        self._lookup_files = lookup_files
        self._token_indexers = token_indexers or self.default_indexers()

    @property
    def words_hint(self) -> str:
        """What to do if the texts have no words."""
        return "if the corpus comes without its words, put them in first"

    @overrides
    def read(self, file_path: DatasetReaderInput) -> Iterator[Instance]:
        """
        The instances of a file. Raises `InputError` if it is invalid, or if the first
        texts have no words (`training/data/first_look.py`).
        """
        return looked_at(super().read(file_path), self, str(file_path))

    def default_indexers(self) -> dict[str, TokenIndexer]:
        """By the keys of a text field."""
        found: dict[str, TokenIndexer] = {
            WORDS: WordIndexer(lookup_files=self._lookup_files),
            CHARACTERS: CharacterIndexer(),
        }
        if self.characters is not None:
            found["token_characters"] = TokenCharactersIndexer(
                character_tokenizer=self.characters,
                min_padding_length=self.widest_filter,
            )
        return found

    @overrides
    def apply_token_indexers(self, instance: Instance) -> None:
        """
        Sets the indexers of all text fields, which are not sent between processes.
        """
        for field in text_fields(instance):
            field.token_indexers = self._token_indexers


def text_field(
    tokens: Sequence[Token], name: str = "sentence", **location: Any
) -> TextField:
    """
    The tokens of a text. Raises `InputError` with its `location`, `file` and `line`, if
    there is none.
    """
    if not tokens:
        problem = f"expected at least one token, got none in the {name}"
        raise InputError(problem, **location)
    return TextField(list(tokens))


def tagged_fields(
    tokens: Sequence[Token],
    tags: Sequence[str] | None,
    metadata: dict[str, Any],
    **location: Any,
) -> dict[str, Field]:
    """
    The fields `tokens` (T tokens), `tags` (T labels, if given, which need not be in the
    vocabulary) and `metadata`, with `tags`, `file` and `line` added. Raises
    `InputError` if there is no token, or not one tag for each.
    """
    text = text_field(tokens, **location)
    gold: list[str] | None = None
    if tags is not None:
        gold = list(tags)
        if len(gold) != len(tokens):
            problem = f"expected a tag for each of {len(tokens)} tokens"
            raise InputError(f"{problem}, got {len(gold)}", **location)
    known = metadata | {"tags": gold} | location
    fields: dict[str, Field] = {"tokens": text, "metadata": MetadataField(known)}
    if gold is not None:
        fields["tags"] = OpenSequenceLabelField(
            gold, text, label_namespace=LABEL_NAMESPACE
        )
    return fields
