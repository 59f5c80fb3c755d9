"""Marks the predicate of a sentence (paper, appendix A.5)."""

from collections.abc import Sequence
from typing import Any

from allennlp.data import Token, TokenIndexer, Vocabulary

from elmo_tasks.nn.word_indexer import shared_token

PREDICATES = "predicates"
"""The vocabulary namespace of the lower-cased words that are predicates in the training data."""

PADDING, ORDINARY, PREDICATE = range(3)
"""The ids that the indexer assigns."""


def mark_predicate(words: Sequence[str], predicate: int) -> list[Token]:
    """Tokens, one of which is marked for `PredicateIndexer`."""
    return [shared_token(word, type_id=int(place == predicate)) for place, word in enumerate(words)]


@TokenIndexer.register("elmo_tasks_predicate")
class PredicateIndexer(TokenIndexer):
    """
    Assigns 2 to the predicate and 1 to the other tokens of a sentence, so that 0 is padding. With an embedding of three
    vectors, of which the first is unused, this is the paper's binary feature.

    It also collects the predicates' words in the vocabulary, from which the predictor guesses predicates.
    """

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        """Counts the word if it is the predicate."""
        if token.type_id:
            counter[PREDICATES][token.ensure_text().lower()] += 1

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> dict[str, list[Any]]:
        """`{"tokens": ids}`, one for each of T tokens."""
        return {"tokens": [PREDICATE if token.type_id else ORDINARY for token in tokens]}

    def get_empty_token_list(self) -> dict[str, list[Any]]:
        return {"tokens": []}
