"""How many operators a step of the biLM takes on the pretended GPU."""

from collections import Counter

import torch

from elmo_tasks.bilm import BiLM, batch_to_ids
from tests.gpu.pretend import work_of

VIEWS = (
    "alias",
    "detach",
    "select",
    "slice",
    "split",
    "transpose",
    "unsqueeze",
    "view",
)
"""Operators that compute nothing."""

FEW, MANY = 8, 18
"""Words of two batches. What they do not have in common belongs to the steps."""


def operators_of_a_step(bilm: BiLM, *, train: bool) -> float:
    """
    Operators that compute, for a step and layer of both directions, with the backward
    pass if `train`. The biLM is on the pretended GPU.
    """
    counted: Counter[str] = Counter()
    for words, sign in ((FEW, -1), (MANY, 1)):
        ids = batch_to_ids([["word"] * words] * 3).to(bilm.boundaries.device)

        def run(ids: torch.Tensor = ids) -> None:
            with torch.set_grad_enabled(train):
                layers = bilm(ids).layers
                if train:
                    layers.sum().backward()

        for name, count in work_of(run).operators.items():
            if not name.removeprefix("aten.").startswith(VIEWS):
                counted[name] += sign * count
    return counted.total() / (MANY - FEW) / bilm.options.n_layers
