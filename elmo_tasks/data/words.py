"""Tokens -> word ids, for the word vectors of `vectors`."""

import multiprocessing
from functools import lru_cache
from typing import Any

from allennlp.data import Token, TokenIndexer, Vocabulary

LATER_WORDS = "later_words"
"""An attribute of an archive's vocabulary: a list of containers of words that it lacks and may add."""


shared_token = lru_cache(maxsize=2**16)(Token)
"""A `Token` that all occurrences of a word share, and nobody changes: large corpora need half the memory."""


@TokenIndexer.register("elmo_tasks_word_ids")
class WordIndexer(TokenIndexer):
    """
    The id of each token's word, else of the lower-cased word, else of unknown words, like the look-up in `WordVectors`.
    Words of `LATER_WORDS` are added to the vocabulary, but not in worker processes, which have copies of it.

    # Parameters

    - `namespace`: the vocabulary namespace of the words.
    - `token_min_padding_length`: see `TokenIndexer`.
    """

    def __init__(self, *, namespace: str = "tokens", token_min_padding_length: int = 0) -> None:
        super().__init__(token_min_padding_length)
        self._namespace = namespace

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        counter[self._namespace][token.ensure_text()] += 1

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> dict[str, list[Any]]:
        """`{"tokens": ids}`, with an id for each of T tokens, never that of the padding."""
        ids = vocabulary.get_token_to_index_vocabulary(self._namespace)
        unknown = vocabulary.get_token_index(vocabulary._oov_token, self._namespace)
        later = vars(vocabulary).get(LATER_WORDS, []) if multiprocessing.parent_process() is None else []

        def find(word: str) -> int | None:
            if word not in ids and any(word in words for words in later):
                return vocabulary.add_token_to_namespace(word, self._namespace)
            return ids.get(word)

        words = [token.ensure_text() for token in tokens]
        # A text may contain the padding token; its id would be masked.
        return {"tokens": [find(word) or find(word.lower()) or unknown for word in words]}

    def get_empty_token_list(self) -> dict[str, list[Any]]:
        return {"tokens": []}
