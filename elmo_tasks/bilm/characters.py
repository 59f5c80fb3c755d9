"""Tokens -> character ids: 50 slots of UTF-8 bytes per token, as in bilm-tf."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import torch

from elmo_tasks.errors import InputError

MAX_CHARACTERS = 50
"""Slots of a token: begin-of-word, up to 48 bytes, end-of-word, padding."""

BYTES = 256
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PAD_WORD = range(BYTES, BYTES + 5)
"""Special characters after the bytes, counted from 0 as in bilm-tf."""

LEAST_CHARACTERS, MOST_CHARACTERS = 10, 256
"""
The limits of a biLM's `max_characters_per_token`. Every source of layers reads at most
254 bytes of a word, so that a long one, such as an address, does not fill the memory
with a batch's padding.
"""

CHARACTERS = BYTES + 5
"""Rows of the character embedding without the padding row: 261."""

PADDING_ID = 0
"""The id in all 50 slots of padding tokens; other ids are the character plus 1."""

_INTEGERS = (
    torch.int64,
    torch.int32,
    torch.int16,
    torch.uint64,
    torch.uint32,
    torch.uint16,
)
"""Those of 8 bits have no room for the ids of special characters."""

BEGIN_OF_SENTENCE, END_OF_SENTENCE = "<S>", "</S>"


def _row(characters: Sequence[int]) -> np.ndarray:
    """The ids [C] of a word of bytes, or of one special character."""
    slots = max(MAX_CHARACTERS, len(characters) + 2)
    row = np.full(slots, PAD_WORD + 1, dtype=np.uint16)  # [C]
    end = 1 + len(characters)
    row[0] = BEGIN_WORD + 1
    row[1:end] = np.array(characters, dtype=np.uint16) + 1
    row[end] = END_WORD + 1
    return row


_NAMES = {BEGIN_SENTENCE: BEGIN_OF_SENTENCE, END_SENTENCE: END_OF_SENTENCE}
_BOUNDARIES = {
    BEGIN_OF_SENTENCE: _row([BEGIN_SENTENCE]),
    END_OF_SENTENCE: _row([END_SENTENCE]),
}


def token_to_ids(token: str, *, longest: int = MAX_CHARACTERS) -> np.ndarray:
    """
    The character ids of one token, uint16, from 1 to 261: 50, or as many as a longer
    word takes, `longest` at most. By default tokens are truncated to 48 bytes, as in
    bilm-tf; lone surrogates are dropped. The tokens `<S>` and `</S>` are the sentence
    boundaries. An empty string is a word without characters.
    """
    if not isinstance(token, str):
        raise TypeError(f"expected a token as a string, got {token!r}")
    boundary = _BOUNDARIES.get(token)
    if boundary is not None:
        return boundary.copy()
    return _row(list(token.encode("utf-8", "ignore")[: longest - 2]))


@lru_cache(maxsize=2**17)
def shared_ids(token: str) -> np.ndarray:
    """
    The ids of a token of any length: one read-only array for all its occurrences in a
    process.
    """
    row = token_to_ids(token, longest=MOST_CHARACTERS)
    row.flags.writeable = False
    return row


def tokens_to_ids(tokens: Iterable[str]) -> np.ndarray:
    """Character ids of several tokens: uint16, shape [T, C]."""
    rows = [token_to_ids(token) for token in tokens]
    if not rows:
        return np.zeros((0, MAX_CHARACTERS), dtype=np.uint16)
    return np.stack(rows)


def pad_rows(rows: Sequence[np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """
    Ids [T, C] of a sentence, int64, from those of its tokens; zero for padding tokens.
    """
    ids = np.full(shape, PADDING_ID, dtype=np.int64)
    if rows and shape[1] == MAX_CHARACTERS:
        ids[: len(rows)] = rows
        return ids
    ids[: len(rows)] = PAD_WORD + 1
    for slots, row in zip(ids, rows, strict=False):
        slots[: len(row)] = row
    return ids


def batch_to_ids(
    sentences: list[list[str]], *, longest: int = MAX_CHARACTERS
) -> torch.LongTensor:
    """
    Character ids of B tokenised sentences, which may be empty, padded with zeros to the
    longest: int64, [B, T, 50], wider if a word takes more slots. The biLM adds sentence
    boundaries. `longest` limits the slots of a word; only sources that read longer
    words raise it. Raises `TypeError` if a sentence is a string, or a token is not one.
    """
    for sentence in sentences:
        if isinstance(sentence, str):
            raise TypeError(
                f"expected lists of tokens, got the string {sentence!r}: split it into tokens first"
            )
    rows = []
    length = 0
    width = MAX_CHARACTERS
    for sentence in sentences:
        tokens = [token_to_ids(token, longest=longest) for token in sentence]
        rows.append(tokens)
        length = max(length, len(tokens))
        for row in tokens:
            width = max(width, len(row))
    ids = np.zeros((len(rows), length, width), dtype=np.int64)  # [B, T, C]
    for padded, tokens in zip(ids, rows, strict=True):
        padded[:] = pad_rows(tokens, padded.shape)
    return torch.from_numpy(ids)  # type: ignore[return-value]


def checked_ids(ids: torch.Tensor) -> torch.Tensor:
    """
    Character ids [B, T, C] as int64. Raises `InputError` for something else;
    `token_mask` checks the rest.
    """
    if ids.dim() != 3 or ids.dtype not in _INTEGERS:
        expected = "expected sentences, or character ids [B, T, C] from batch_to_ids"
        raise InputError(f"{expected}, got a {ids.dtype} tensor of {tuple(ids.shape)}")
    ids = ids.long()
    if ids.numel():
        least, most = torch.aminmax(ids)
        if least < 0 or most > CHARACTERS:
            expected = f"expected 0 to {CHARACTERS}"
            raise InputError(
                f"character ids: {expected}, got {int(least)} to {int(most)}"
            )
    return ids


def token_mask(character_ids: torch.Tensor) -> torch.Tensor:
    """
    The mask of tokens [B, T] of ids [B, T, C]. Raises `InputError` if padding precedes
    a token, or a token has fewer than 50 slots.
    """
    if character_ids.dim() != 3 or character_ids.shape[2] < MAX_CHARACTERS:
        raise InputError(
            f"character ids: expected shape [B, T, {MAX_CHARACTERS}], got {list(character_ids.shape)}"
        )
    mask = (character_ids > PADDING_ID).any(2)  # [B, T]
    if (mask[:, 1:] & ~mask[:, :-1]).any():
        raise InputError(
            "character ids: expected padding (all zeros) after the tokens, got padding before a token"
        )
    return mask


def fit_slots(character_ids: torch.Tensor, slots: int = MAX_CHARACTERS) -> torch.Tensor:
    """
    Ids [..., C] as [..., slots]: words are truncated to `slots - 2` bytes, or padded.
    """
    more = slots - character_ids.shape[-1]
    if more > 0:
        is_token = character_ids[..., :1] > PADDING_ID
        padding = (is_token * (PAD_WORD + 1)).expand(*character_ids.shape[:-1], more)
        return torch.cat([character_ids, padding.to(character_ids.dtype)], -1)
    if more < 0:
        last = character_ids[..., slots - 1 : slots]
        last = last.masked_fill((last > PADDING_ID) & (last <= BYTES), END_WORD + 1)
        return torch.cat([character_ids[..., : slots - 1], last], -1)
    return character_ids


def ids_to_text(character_ids: torch.Tensor) -> list[str]:
    """The words with ids [N, C], as text; bytes that are not UTF-8 are dropped."""
    rows = character_ids.cpu().numpy() - 1  # [N, C]
    lengths = (rows == END_WORD).argmax(1) - 1  # [N]
    words = []
    for row, length in zip(rows, lengths, strict=True):
        if row[1] in _NAMES:
            words.append(_NAMES[row[1]])
        else:
            characters = row[1 : length + 1].astype(np.uint8).tobytes()
            words.append(characters.decode("utf-8", "ignore"))
    return words
