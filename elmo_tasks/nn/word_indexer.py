"""Tokens -> word ids and looked-up vectors, for the word vectors of `word_vectors`."""

from functools import lru_cache
from typing import Any, NamedTuple

import torch
from allennlp.data import Token, TokenIndexer, Vocabulary
from allennlp.data.token_indexers.token_indexer import IndexedTokenList
from overrides import overrides

from elmo_tasks.nn.word_lookup import PREFIX, WordLookup, WordVocabulary
from elmo_tasks.settings import Padding, checked

IDS = "tokens"

shared_token = lru_cache(maxsize=2**16)(Token)
"""
A `Token` that all occurrences of a word share, and nobody changes: large corpora need
half the memory.
"""


class LookedUp(NamedTuple):
    """What a look-up found for T tokens: spellings, or `None`."""

    lookup: WordLookup
    spellings: list[bytes | None]


@TokenIndexer.register("elmo_tasks_word_ids")
class WordIndexer(TokenIndexer):
    """
    Word ids. A word that is not in the vocabulary gets the id of the lower-cased word,
    else that of unknown words, as `WordVectors` does.

    With a `WordVocabulary`, also the vectors of words that it lacks.

    # Parameters

    - `namespace`: the vocabulary namespace of the words.
    - `token_min_padding_length`: pad every text to at least this many tokens.
    """

    @checked
    def __init__(
        self, *, namespace: str = "tokens", token_min_padding_length: Padding = 0
    ) -> None:
        super().__init__(token_min_padding_length)
        self._namespace = namespace

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
        `tokens`: an id for each of T tokens, never that of the padding. For each
        look-up of the vocabulary, under its name: what it found.
        """
        known = vocabulary.get_token_to_index_vocabulary(self._namespace)
        unknown = vocabulary.get_token_index(vocabulary._oov_token, self._namespace)
        words = [token.ensure_text() for token in tokens]
        # A text may contain the padding token; its id would be masked.
        ids = [known.get(word) or known.get(word.lower()) or unknown for word in words]
        indexed: dict[str, Any] = {IDS: ids}
        if isinstance(vocabulary, WordVocabulary):
            for lookup in vocabulary.lookups:
                if lookup.namespace != self._namespace:
                    continue
                spellings: list[bytes | None] = []
                for word, word_id in zip(words, ids, strict=True):
                    spelling = None
                    if word not in known:
                        spelling = lookup.find(word, is_unknown=word_id == unknown)
                    spellings.append(spelling)
                indexed[lookup.name] = LookedUp(lookup, spellings)
        return indexed

    @overrides
    def get_empty_token_list(self) -> IndexedTokenList:
        return {IDS: []}

    @overrides
    def get_padding_lengths(self, indexed_tokens: IndexedTokenList) -> dict[str, int]:
        """The number of tokens T, and for each look-up that of the numbers, T * D."""
        length = max(len(indexed_tokens[IDS]), self._token_min_padding_length)
        lengths = {IDS: length}
        for name, found in indexed_tokens.items():
            if name != IDS:
                lengths[name] = length * found.lookup.width
        return lengths

    @overrides
    def as_padded_tensor_dict(
        self, tokens: IndexedTokenList, padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """
        `tokens`, int64, [T]; for each look-up the vectors, float32, [T * D]: NaN for a
        token that it did not find, and for padding. One row of numbers, since AllenNLP
        pads one axis.
        """
        padded: dict[str, torch.Tensor]
        padded = super().as_padded_tensor_dict({IDS: tokens[IDS]}, padding_lengths)
        for name, length in padding_lengths.items():
            if not name.startswith(PREFIX):
                continue
            if name in tokens:
                found = tokens[name]
                padded[name] = found.lookup.vectors(found.spellings, length)
            else:  # an empty text, which pads a list of texts
                padded[name] = torch.full([length], torch.nan)
        return padded
