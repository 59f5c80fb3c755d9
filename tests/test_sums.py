"""
Sums over a text, a corpus or a vocabulary lose no digits, where one large value comes
before many small ones.
"""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.data import Vocabulary

from elmo_tasks.elmo.pooling import pooled
from elmo_tasks.experiments.probes.wsd import SenseVectors
from elmo_tasks.nn.word_vectors import WordVectors

VALUES = [2.0**26] + [1.0] * 10_000
"""In float32 the sum of the first two is the first."""

MEAN = math.fsum(VALUES) / len(VALUES)


def test_the_mean_over_a_long_text() -> None:
    of_text = np.array([VALUES, VALUES], np.float32).T.copy()  # [T, 2]
    assert pooled([of_text], "mean", (2,))[0] == pytest.approx([MEAN, MEAN])


def test_the_mean_of_the_annotations_of_a_sense() -> None:
    def target_vectors(frozen: Any) -> Any:
        target = SimpleNamespace(lemma="play", pos="NOUN", id="d0")
        for value in VALUES:
            yield target, torch.tensor([[value, 2.0**26]])  # [L+1, D]

    corpus: Any = SimpleNamespace(target_vectors=target_vectors, keys={"d0": ["sense"]})
    frozen: Any = None
    direction = SenseVectors(corpus, frozen).directions["sense"][0]
    expected = MEAN / 2.0**26
    assert float(direction[0] / direction[1]) == pytest.approx(expected, rel=1e-6)


def test_the_mean_of_word_vectors(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    counts = {"unseen": 1}
    lines = []
    for number, value in enumerate(VALUES):
        counts[f"word{number}"] = len(VALUES) - number + 1
        lines.append(f"word{number} {value} {value}\n")
    file.write_text("".join(lines))
    vocab = Vocabulary(counter={"tokens": counts})
    built = WordVectors(
        embedding_dim=2, vocab=vocab, pretrained_file=str(file), unknown="mean"
    )
    row = vocab.get_token_index("unseen")
    found = built(torch.tensor([[row]]))[0, 0].tolist()
    assert found == pytest.approx([MEAN, MEAN])
