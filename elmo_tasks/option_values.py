"""
Values that options of the command line share with the functions that they are passed
to: names to choose from, ranges and defaults.

They are here since the modules of those functions import torch or AllenNLP, which a
command's help does without.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from elmo_tasks.settings import Count, Integer, Settings, Size, Wrong, checked

Precision = Literal["float32", "bfloat16", "emulated_bfloat16"]
"""
Data types of matrix products. A CPU that would emulate `bfloat16` computes in float32,
unless it is called `emulated_bfloat16`.
"""

InferencePrecision = Literal["float32", "bfloat16", "emulated_bfloat16", "int8"]
"""The same for weights that are not trained; `int8` is for a CPU alone."""

FLOAT32_MANTISSA = 23
"""Bits of the mantissa of a float32 after the leading one."""

MantissaBits = Annotated[Integer, Field(ge=0, le=FLOAT32_MANTISSA)]
"""To how many of them weights are rounded."""

MODEL_FORMS = "NAME, FOLDER, ZIP, URL, hf://OWNER/NAME or OPTIONS.json+WEIGHTS.hdf5"
"""What the name of a model can be."""

Pieces = Annotated[
    Literal["mean", "first", "last"],
    "the vector of a word that a transformer splits into pieces: their mean, the"
    " first or the last",
]

Pooling = Literal["mean", "max", "first", "last"]
"""What makes one vector of the vectors of a sentence's tokens."""

OUTPUTS = ("all", "top", "average")
"""All L+1 layers, the top layer, or the mean of all layers."""

RESET, CARRY = "reset", "carry"

StartState = Annotated[
    Literal["reset", "carry"],
    "what a sentence's LSTM states start from: zero (`reset`), or the last states of"
    " the sentence before it in the text (`carry`)",
]

PERPLEXITY_ROWS = 32
"""
Rows of a batch in which a perplexity is measured: each starts from zeros and carries
its states, as in training.
"""

Quoting = Annotated[
    Literal["minimal", "none"],
    "what a quotation mark is in CSV and TSV: around a cell with a separator, a line break"
    " or a mark, which is doubled (`minimal`), or a character like any other (`none`)",
]

PAIR_GROUP = "UID"
"""The field of BLiMP's lines with the name of their phenomenon."""


def _not_all(one_in: int) -> int:
    if one_in == 1:
        raise ValueError("0, or an integer of at least 2")
    return one_in


HeldOut = Annotated[Count, AfterValidator(_not_all)]
"""One in so many blocks is held out; 0 for none."""


@checked
@dataclass(frozen=True, kw_only=True)
class BatchSizes(Settings):
    """
    Sentences of more than `max_length` tokens are split into windows of that many
    tokens, which share `overlap` tokens with their neighbours. A batch has at most
    `batch_size` windows and `max_tokens` tokens with padding.
    """

    max_length: Size = 512
    overlap: Count = 128
    batch_size: Size = 64
    max_tokens: Size = 4096

    def conflicts(self) -> Iterator[Wrong]:
        half = self.max_length // 2
        if self.overlap > half:
            yield Wrong("overlap", f"at most half of max_length, {half}", self.overlap)

    def of_windows(self) -> dict[str, int]:
        """The sizes on which vectors depend by more than rounding."""
        return {"max_length": self.max_length, "overlap": self.overlap}
