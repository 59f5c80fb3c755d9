"""
Sums over a text or a corpus lose no digits, where one large value comes before many
small ones.
"""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from elmo_tasks.elmo.pooling import pooled
from elmo_tasks.experiments.probes.wsd import SenseVectors

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
