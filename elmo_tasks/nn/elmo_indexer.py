"""Tokens -> character ids, for AllenNLP's text fields."""

from typing import Any

import torch
from allennlp.data import Token, TokenIndexer, Vocabulary
from overrides import overrides

from elmo_tasks.bilm.characters import MAX_CHARACTERS, pad_rows, shared_ids
from elmo_tasks.settings import checked

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
        shape = (n_tokens, padding_lengths[SLOTS])
        padded = pad_rows(tokens[KEY][:n_tokens], shape)
        return {KEY: torch.from_numpy(padded)}
