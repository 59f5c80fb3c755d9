"""A small random CoVe: word vectors, and the weights of a plain `nn.LSTM` over them."""

from pathlib import Path

import numpy as np
import torch
from torch import nn

WIDTH = 5
WORDS = ["The", "harbour", "froze", "over", ".", "Ångström", "one", "日" * 15, "y" * 48, "é" * 30, "<S>"]


def write_vectors(file: Path, seed: int = 3) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    vectors = {word: generator.normal(size=WIDTH).astype(np.float32) for word in WORDS}
    file.write_text("".join(f"{word} {' '.join(map(repr, map(float, vector)))}\n" for word, vector in vectors.items()))
    return vectors


def published(seed: int = 3) -> nn.LSTM:
    torch.manual_seed(seed)
    return nn.LSTM(WIDTH, WIDTH, num_layers=2, bidirectional=True, batch_first=True).eval().requires_grad_(False)


def write_cove(folder: Path) -> tuple[str, str]:
    """The vectors' file and the weights'."""
    vectors_file, weight_file = folder / "glove.txt", folder / "cove.pth"
    write_vectors(vectors_file)
    torch.save(published().state_dict(), weight_file)
    return str(vectors_file), str(weight_file)
