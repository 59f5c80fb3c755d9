"""Text -> character ids: the first step of the flow. A token becomes 50 slots of UTF-8 bytes, as in bilm-tf."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch

MAX_CHARACTERS = 50
"""Slots of a token: begin-of-word, up to 48 bytes, end-of-word, padding."""

BYTES = 256
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PAD_WORD = range(BYTES, BYTES + 5)
"""Characters beyond the bytes, counted from 0 as bilm-tf counts them while training."""

CHARACTERS = BYTES + 5
"""Rows of the character embedding without the padding row: 261."""

PADDING_ID = 0
"""Id that fills all 50 slots where a batch has no token; every other id is its character plus 1."""

BEGIN_OF_SENTENCE, END_OF_SENTENCE = "<S>", "</S>"


def _row(characters: bytes | Sequence[int]) -> np.ndarray:
    row = np.full(MAX_CHARACTERS, PAD_WORD + 1, dtype=np.uint16)  # [C]
    body = np.frombuffer(characters, np.uint8) if isinstance(characters, bytes) else characters
    row[0] = BEGIN_WORD + 1
    row[1 : 1 + len(body)] = np.asarray(body, dtype=np.uint16) + 1
    row[1 + len(body)] = END_WORD + 1
    return row


_BOUNDARIES = {BEGIN_OF_SENTENCE: _row([BEGIN_SENTENCE]), END_OF_SENTENCE: _row([END_SENTENCE])}


def token_to_ids(token: str) -> np.ndarray:
    """
    The character ids of one token.

    Bytes beyond the 48th are cut and lone surrogates dropped, as bilm-tf does. The literal tokens `<S>`
    and `</S>` are the sentence boundaries. An empty string is a word without characters.

    # Returns

    `ndarray`, uint16, shape [C] with C = 50; values 1..261.

    # Raises

    `TypeError` where it is not a string.
    """
    if not isinstance(token, str):
        raise TypeError(f"wanted a token, a string; found {token!r}")
    boundary = _BOUNDARIES.get(token)
    if boundary is not None:
        return boundary.copy()
    return _row(token.encode("utf-8", "ignore")[: MAX_CHARACTERS - 2])


def tokens_to_ids(tokens: Iterable[str]) -> np.ndarray:
    """Character ids of several tokens: uint16, shape [T, C]."""
    rows = [token_to_ids(token) for token in tokens]
    return np.stack(rows) if rows else np.zeros((0, MAX_CHARACTERS), dtype=np.uint16)


def batch_to_ids(sentences: list[list[str]]) -> torch.LongTensor:
    """
    Character ids of a batch of tokenised sentences, padded with zeros to the longest.

    # Parameters

    sentences : `list[list[str]]`
        B sentences of any length, empty ones included. Sentence boundaries are the biLM's business.

    # Returns

    `LongTensor`, shape [B, T, 50].

    # Raises

    `TypeError` where a sentence is a string, which would be read as one token per letter, or a token is none.
    """
    for sentence in sentences:
        if isinstance(sentence, str):
            raise TypeError(f"wanted lists of tokens, found the string {sentence!r}: split it into tokens first")
    longest = max((len(sentence) for sentence in sentences), default=0)
    ids = np.zeros((len(sentences), longest, MAX_CHARACTERS), dtype=np.int64)  # [B, T, C]
    for row, sentence in zip(ids, sentences, strict=True):
        row[: len(sentence)] = tokens_to_ids(sentence)
    return torch.from_numpy(ids)  # type: ignore[return-value]


def token_mask(character_ids: torch.Tensor) -> torch.Tensor:
    """
    Where there are tokens: bool, shape [B, T], for character ids [B, T, 50].

    # Raises

    `ValueError` where the shape is another, or padding comes before a token.
    """
    if character_ids.dim() != 3 or character_ids.shape[2] != MAX_CHARACTERS:
        raise ValueError(
            f"character ids must have the shape [B, T, {MAX_CHARACTERS}], found {list(character_ids.shape)}"
        )
    mask = (character_ids > PADDING_ID).any(2)  # [B, T]
    if (mask[:, 1:] & ~mask[:, :-1]).any():
        raise ValueError("character ids have a padding token (all zeros) before a real one")
    return mask


def ids_to_words(character_ids: torch.Tensor) -> list[bytes | None]:
    """
    The words, UTF-8, that rows of ids [N, 50] were made from. `None` for those of 48 bytes, which may have been cut,
    and for sentence boundaries.
    """
    rows = character_ids.cpu().numpy() - 1  # [N, C]
    lengths = (rows == END_WORD).argmax(1) - 1  # [N]
    known = (lengths < MAX_CHARACTERS - 2) & ~np.isin(rows[:, 1], (BEGIN_SENTENCE, END_SENTENCE))
    return [
        row[1 : length + 1].astype(np.uint8).tobytes() if whole else None
        for row, length, whole in zip(rows, lengths, known, strict=True)
    ]
