"""Tokens -> word ids: the reader's side of `vectors`."""

from typing import Any

from allennlp.data import Token, TokenIndexer, Vocabulary


@TokenIndexer.register("elmo_tasks_word_ids")
class WordIndexer(TokenIndexer):
    """
    Gives each token the id of its word; where the vocabulary lacks it, that of the lower-cased word; where it lacks
    both, that of unknown words. `WordVectors` looks words up in the same order.

    # Parameters

    namespace : `str`
        The part of the vocabulary that holds the words.
    token_min_padding_length : `int`
        Tokens that a padded sentence has at least.
    """

    def __init__(self, *, namespace: str = "tokens", token_min_padding_length: int = 0) -> None:
        super().__init__(token_min_padding_length)
        self._namespace = namespace

    def count_vocab_items(self, token: Token, counter: dict[str, dict[str, int]]) -> None:
        """Counts the word as it is written."""
        counter[self._namespace][token.ensure_text()] += 1

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary) -> dict[str, list[Any]]:
        """`{"tokens": ids}`, an id for each of T tokens, none of them that of the padding."""
        ids = vocabulary.get_token_to_index_vocabulary(self._namespace)
        unknown = vocabulary.get_token_index(vocabulary._oov_token, self._namespace)
        words = [token.ensure_text() for token in tokens]
        # A text may spell out the padding token; its id would make a hole in the mask.
        return {"tokens": [ids.get(word) or ids.get(word.lower()) or unknown for word in words]}

    def get_empty_token_list(self) -> dict[str, list[Any]]:
        """What a field of no tokens holds."""
        return {"tokens": []}
