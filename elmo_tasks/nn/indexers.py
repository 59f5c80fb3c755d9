"""
Tokens -> numbers, for AllenNLP's text fields: word ids and looked-up vectors, for the
word vectors of `word_vectors`; and character ids, for the biLM.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, Optional

import torch
from allennlp.data import Token, TokenIndexer, Vocabulary
from allennlp.data.token_indexers.token_indexer import IndexedTokenList
from overrides import overrides

from elmo_tasks.bilm.characters import MAX_CHARACTERS, pad_rows, shared_ids
from elmo_tasks.nn.word_lookup import WordLookup
from elmo_tasks.settings import ListOf, PathLike, checked

IDS = "tokens"

shared_token = lru_cache(maxsize=2**16)(Token)
"""
A `Token` that all occurrences of a word share, and nobody changes: large corpora need
half the memory.
"""


@TokenIndexer.register("elmo_tasks_word_ids")
class WordIndexer(TokenIndexer):
    """
    Word ids. A word that is not in the vocabulary gets the id of the lower-cased word,
    else that of unknown words, as `WordVectors` does.

    With `lookup_files`, also the vectors that these have of words that are not in the
    vocabulary.

    # Parameters

    - `namespace`: the vocabulary namespace of the words.
    - `lookup_files`: the `lookup_file` of the word vectors; of
      `elmo_tasks_concatenated_vectors`, that of each of the `parts`.
    """

    @checked
    def __init__(
        self,
        *,
        namespace: str = "tokens",
        lookup_files: Optional[ListOf[PathLike]] = None,
    ) -> None:
        super().__init__()
        self._namespace = namespace
        self._lookups = [WordLookup(Path(file)) for file in lookup_files or []]

    @overrides
    def count_vocab_items(
        self, token: Token, counter: dict[str, dict[str, int]]
    ) -> None:
        counter[self._namespace][token.ensure_text()] += 1

    @overrides
    def tokens_to_indices(
        self, tokens: list[Token], vocabulary: Vocabulary
    ) -> IndexedTokenList:
        """
        `tokens`: an id for each of T tokens, never that of the padding. For the look-up
        n from 0: `vectors_n`, the spellings of the words that it found, each once, and
        `rows_n`, for each token the row of its word among them from 1, else 0.
        """
        known = vocabulary.get_token_to_index_vocabulary(self._namespace)
        unknown = vocabulary.get_token_index(vocabulary._oov_token, self._namespace)
        words = [token.ensure_text() for token in tokens]
        # A text may contain the padding token; its id would be masked.
        ids = [known.get(word) or known.get(word.lower()) or unknown for word in words]
        indexed: IndexedTokenList = {IDS: ids}
        for number, lookup in enumerate(self._lookups):
            rows = []
            row_of: dict[bytes, int] = {}
            for word, word_id in zip(words, ids, strict=True):
                spelling = None
                if word not in known:
                    spelling = lookup.find(word, is_unknown=word_id == unknown)
                row = 0
                if spelling is not None:
                    row = row_of.setdefault(spelling, len(row_of) + 1)
                rows.append(row)
            indexed[rows_of(number)] = rows
            indexed[vectors_of(number)] = list(row_of)
        return indexed

    @overrides
    def get_empty_token_list(self) -> IndexedTokenList:
        indexed: IndexedTokenList = {IDS: []}
        for number in range(len(self._lookups)):
            indexed[rows_of(number)] = []
            indexed[vectors_of(number)] = []
        return indexed

    @overrides
    def get_padding_lengths(self, indexed_tokens: IndexedTokenList) -> dict[str, int]:
        """The number of tokens T, and for each look-up that of its rows, K."""
        length = len(indexed_tokens[IDS])
        lengths = {IDS: length}
        for number in range(len(self._lookups)):
            lengths[rows_of(number)] = length
            lengths[vectors_of(number)] = 1 + len(indexed_tokens[vectors_of(number)])
        return lengths

    @overrides
    def as_padded_tensor_dict(
        self, tokens: IndexedTokenList, padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """
        `tokens`, int64, [T]; and for the look-up n `rows_n`, int64, [T], and
        `vectors_n`, float32, [K, D], whose row 0 is for words that it did not find.
        """
        numbers = dict(tokens)
        vectors = {}
        for number, lookup in enumerate(self._lookups):
            name = vectors_of(number)
            vectors[name] = lookup.vectors(numbers.pop(name), padding_lengths[name])
        padded: dict[str, torch.Tensor]
        padded = super().as_padded_tensor_dict(numbers, padding_lengths)
        return padded | vectors


def rows_of(number: int) -> str:
    """The tensor that says which row of a look-up's vectors is a token's."""
    return f"rows_{number}"


def vectors_of(number: int) -> str:
    """The tensor with a look-up's vectors."""
    return f"vectors_{number}"


KEY = "elmo_tokens"  # the name of the tensor, as in AllenNLP's `elmo_characters`
SLOTS = "elmo_slots"  # the padding key of the slots of a word


@TokenIndexer.register("elmo_tasks_characters")
class CharacterIndexer(TokenIndexer):
    """
    Index each token with the character ids of the biLM; `<S>` and `</S>` are the
    sentence boundaries. A word has 50 ids, or more if it is longer than 48 bytes; the
    biLM truncates it then, and transformers read all of it.

    Instances hold one reference per token to an array that all occurrences of a word
    share.
    """

    @checked
    def __init__(self) -> None:
        super().__init__()

    @overrides
    def count_vocab_items(
        self, token: Token, counter: dict[str, dict[str, int]]
    ) -> None:
        """Characters have fixed ids."""

    @overrides
    def tokens_to_indices(
        self, tokens: list[Token], vocabulary: Vocabulary
    ) -> dict[str, list[Any]]:
        """`{"elmo_tokens": rows}`: for each of T tokens its ids, uint16, shape [C]."""
        return {KEY: [shared_ids(token.ensure_text()) for token in tokens]}

    @overrides
    def get_empty_token_list(self) -> dict[str, list[Any]]:
        return {KEY: []}

    @overrides
    def get_padding_lengths(
        self, indexed_tokens: dict[str, list[Any]]
    ) -> dict[str, int]:
        """The numbers of tokens T and of characters C of the longest word."""
        lengths: dict[str, int] = super().get_padding_lengths(indexed_tokens)
        lengths[SLOTS] = max(map(len, indexed_tokens[KEY]), default=MAX_CHARACTERS)
        return lengths

    @overrides
    def as_padded_tensor_dict(
        self, tokens: dict[str, list[Any]], padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """
        `{"elmo_tokens": ids}`: `LongTensor`, shape [T, C] with C >= 50, zero for
        padding.
        """
        n_tokens = padding_lengths[KEY]
        padded = pad_rows(tokens[KEY][:n_tokens], (n_tokens, padding_lengths[SLOTS]))
        return {KEY: torch.from_numpy(padded)}
