"""Which word of a sentence is the predicate in question -> a number for each token (paper, appendix A.5)."""

from collections.abc import Sequence
from typing import Any

from allennlp.data import Token, TokenIndexer, Vocabulary

PREDICATES = "predicates"
"""The part of the vocabulary that holds the words that were predicates in training, in lower case."""

PADDING, ORDINARY, PREDICATE = range(3)
"""What the indexer gives for no token, for a token, and for the predicate."""


def mark_predicate(words: Sequence[str], predicate: int) -> list[Token]:
    """Tokens of which one is marked for `PredicateIndexer`."""
    return [Token(word, type_id=int(place == predicate)) for place, word in enumerate(words)]


@TokenIndexer.register("elmo_tasks_predicate")
class PredicateIndexer(TokenIndexer):
    """
    Gives 2 for the predicate and 1 for all other tokens of a sentence, so that only padding is 0. An embedding of three
    vectors, the first of which is never read, makes it the paper's binary feature.

    Counts the predicates' words, too: the vocabulary tells later which words were predicates in training.

    # Parameters

    token_min_padding_length : `int`
        Tokens that a padded sentence has at least.
    """

    def __init__(self, *, token_min_padding_length: int = 0) -> None:
        super().__init__(token_min_padding_length)

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        """Counts the word if it is the predicate."""
        if token.type_id:
            counter[PREDICATES][token.ensure_text().lower()] += 1

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> dict[str, list[Any]]:
        """`{"tokens": indicators}`, one for each of T tokens."""
        return {"tokens": [PREDICATE if token.type_id else ORDINARY for token in tokens]}

    def get_empty_token_list(self) -> dict[str, list[Any]]:
        """What a field of no tokens holds."""
        return {"tokens": []}
