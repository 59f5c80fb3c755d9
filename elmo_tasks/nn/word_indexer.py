"""Tokens -> word ids, for the word vectors of `word_vectors`."""

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from allennlp.data import Token, TokenIndexer, Vocabulary

from elmo_tasks.settings import Padding, checked

IDS, SPELLING = "tokens", "spelling"

MAX_BYTES = 1000  # the longest spelling: a longer word, as in GloVe's files, is unknown

END_OF_WORD = b"\0"

shared_token = lru_cache(maxsize=2**16)(Token)
"""A `Token` that all occurrences of a word share, and nobody changes: large corpora need half the memory."""


@TokenIndexer.register("elmo_tasks_word_ids")
class WordIndexer(TokenIndexer):
    """
    The id of each token's word, else of the lower-cased word, else of unknown words, like the look-up in `WordVectors`;
    and the spelling of words that are not in the vocabulary, so that `WordVectors` can look them up in a file.
    """

    @checked
    def __init__(
        self, *, namespace: str = "tokens", token_min_padding_length: Padding = 0
    ) -> None:
        super().__init__(token_min_padding_length)
        self._namespace = namespace

    def count_vocab_items(
        self, token: Token, counter: dict[str, dict[str, int]]
    ) -> None:
        counter[self._namespace][token.ensure_text()] += 1

    def tokens_to_indices(
        self, tokens: list[Token], vocabulary: Vocabulary
    ) -> dict[str, Any]:
        """
        `{"tokens": ids, "spelling": spellings}`: an id for each of T tokens, never that of the padding; indices and
        UTF-8 of the tokens that are not in the vocabulary.
        """
        ids = vocabulary.get_token_to_index_vocabulary(self._namespace)
        unknown = vocabulary.get_token_index(vocabulary._oov_token, self._namespace)
        words = [token.ensure_text() for token in tokens]
        new = []
        for index, word in enumerate(words):
            if word in ids:
                continue
            spelling = word.encode("utf-8", "surrogatepass")
            if len(spelling) <= MAX_BYTES and END_OF_WORD not in spelling:
                new.append((index, spelling))
        return {
            # A text may contain the padding token; its id would be masked.
            IDS: [ids.get(word) or ids.get(word.lower()) or unknown for word in words],
            SPELLING: tuple(new),
        }

    def get_empty_token_list(self) -> dict[str, Any]:
        return {IDS: [], SPELLING: ()}

    def get_padding_lengths(self, indexed_tokens: dict[str, Any]) -> dict[str, int]:
        n_bytes = sum(len(spelling) for _, spelling in indexed_tokens[SPELLING])
        return {
            **super().get_padding_lengths({IDS: indexed_tokens[IDS]}),
            SPELLING: len(indexed_tokens[IDS]) + n_bytes,
        }

    def as_padded_tensor_dict(
        self, tokens: dict[str, Any], padding_lengths: dict[str, int]
    ) -> dict[str, torch.Tensor]:
        """
        `tokens`, int64, [T]; `spelling`, uint8, [C]: the spelling of each token, nothing
        if it is in the vocabulary, and a NUL after each, then zeros. Whatever the tokens
        are, both are there; `split_spellings` reads the second.
        """
        padded = super().as_padded_tensor_dict({IDS: tokens[IDS]}, padding_lengths)
        words = [b""] * len(tokens[IDS])
        for index, spelling in tokens[SPELLING]:
            words[index] = spelling
        text = END_OF_WORD.join(words)
        row = np.zeros(padding_lengths[SPELLING], np.uint8)
        row[: len(text)] = np.frombuffer(text, np.uint8)
        padded[SPELLING] = torch.from_numpy(row)
        return padded


def split_spellings(spelling: torch.Tensor) -> list[list[bytes]]:
    """
    The spellings of the words of each of B sentences, from the tensor [B, C] of
    `WordIndexer`: empty for words in the vocabulary, and after the last word.
    """
    return [row.tobytes().split(END_OF_WORD) for row in spelling.cpu().numpy()]
