"""
A random CoVe: word vectors, and the weights of an `nn.LSTM` over them, which has the
names and the order of gates of the published file.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn

WORDS = [
    "The",
    "harbour",
    "froze",
    "over",
    ".",
    "Ångström",
    "one",
    "日" * 15,
    "y" * 48,
    "é" * 100,
]


def write_vectors(file: Path, width: int, seed: int = 3) -> dict[str, np.ndarray]:
    """Writes and returns the vectors of `WORDS` in the format of GloVe."""
    generator = np.random.default_rng(seed)
    vectors = {}
    lines = []
    for word in WORDS:
        vectors[word] = generator.normal(size=width).astype(np.float32)
        numbers = " ".join([repr(float(number)) for number in vectors[word]])
        lines.append(f"{word} {numbers}\n")
    file.write_text("".join(lines), "utf-8")
    return vectors


def published_lstm(width: int = 5, seed: int = 3) -> nn.LSTM:
    torch.manual_seed(seed)
    lstm = nn.LSTM(width, width, num_layers=2, bidirectional=True)
    return lstm.eval().requires_grad_(False)


def write_cove(folder: Path, width: int = 5) -> tuple[str, str]:
    """The file of the vectors and that of the weights."""
    vectors_file = folder / "glove.txt"
    weight_file = folder / "cove.pth"
    write_vectors(vectors_file, width)
    torch.save(published_lstm(width).state_dict(), weight_file)
    return str(vectors_file), str(weight_file)
