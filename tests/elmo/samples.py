"""
Small random biLMs in the official format, and sentences that are hard in every way.
"""

from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.bilm import BiLM, BiLMOptions
from elmo_tasks.errors import InputError

FILTERS = ((1, 4), (2, 5), (3, 8), (7, 6))

SENTENCES = [
    ["The", "harbour", "froze", "over", "."],
    ["Ångström", "übt", "日本語", "🙂"],
    ["x" * 47, "y" * 48, "z" * 49, "é" * 60, "日" * 17],
    [],
    ["one"],
    ["<S>", "a", "</S>", "<UNK>", "", "a", "."],
    ["lone", "\ud800surrogate", "\t", "a b"],
]

BATCHES = [
    [SENTENCES[0], SENTENCES[1], SENTENCES[4]],
    [SENTENCES[2], SENTENCES[3], SENTENCES[5], SENTENCES[6], SENTENCES[0]],
    [SENTENCES[4], SENTENCES[2]],
]
"""
Three batches, of which the second has rows that the first had not, and the third leaves
some rows alone.
"""


def options(**changes: Any) -> BiLMOptions:
    """
    A biLM small enough for loops in Python; clips that nothing of its size reaches.
    """
    sizes = {
        "filters": FILTERS,
        "character_dim": 4,
        "dim": 12,
        "projection_dim": 6,
        "n_highway": 2,
    }
    return BiLMOptions(**{**sizes, **changes})


def random_bilm(seed: int = 3, **changes: Any) -> BiLM:
    """A biLM whose every parameter is drawn wide enough for each to matter."""
    bilm = BiLM(options(**changes))
    generator = torch.Generator().manual_seed(seed)
    for parameter in bilm.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) * 0.5
    return bilm


def write_bilm(folder: Path, seed: int = 3, **changes: Any) -> tuple[str, str]:
    """Its official files: `options.json` and `weights.hdf5`."""
    files = str(folder / "options.json"), str(folder / "weights.hdf5")
    random_bilm(seed, **changes).save_files(*files)
    return files


class Code:
    """What a pickle may hold: a call that leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return open, (str(self.trace), "w")


def mismatches(files: tuple[str, str]) -> list[str]:
    """The lines of the error for options and weights that do not match."""
    with pytest.raises(InputError) as error:
        BiLM.from_files(*files)
    head, *listed = str(error.value).split("\n  ")
    assert head == f"{files[1]}: does not match {files[0]}:"
    return sorted(listed)
