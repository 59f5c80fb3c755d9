"""
How each parameter of the models at scale `paper` starts (docs/PAPER.md, "Initial
values"). Uniform and normal values are compared with their distribution by a
Kolmogorov-Smirnov test, so that another bound or deviation is noticed.
"""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from tests.test_configs import build

Check = Callable[[Tensor], None]
"""Raises an `AssertionError` for values that were not drawn as they should be."""

LEAST_LIKELY = 1e-5
"""Of the values that are drawn at random, with the seeds that tests have."""

MOST_VALUES = 20_000


def follows(values: Tensor, distribution: str, *parameters: float) -> None:
    flat = values.flatten().double().numpy()
    some = flat[:: -(-len(flat) // MOST_VALUES)]
    likelihood = stats.kstest(some, distribution, parameters).pvalue
    assert likelihood > LEAST_LIKELY


def uniform(values: Tensor, bound: float) -> None:
    assert values.abs().max().item() <= bound * (1 + 1e-6)
    follows(values, "uniform", -bound, 2 * bound)


def constant(value: float) -> Check:
    def check(values: Tensor) -> None:
        assert torch.equal(values, torch.full_like(values, value))

    return check


def glorot(values: Tensor) -> None:
    """Bound `(6 / (inputs + outputs))^0.5`; a filter's inputs are all it sees."""
    inputs, outputs = nn.init._calculate_fan_in_and_fan_out(values)
    uniform(values, (6 / (inputs + outputs)) ** 0.5)


def glorot_vector(values: Tensor) -> None:
    """As TensorFlow counts: a vector of n has n inputs and n outputs."""
    uniform(values, (3 / len(values)) ** 0.5)


def glorot_rows(values: Tensor) -> None:
    """Vectors [2, 1, H] of two directions; each has one input and H outputs."""
    for row in values:
        uniform(row, (6 / (len(row) + row.shape[-1])) ** 0.5)


def keras_vector(values: Tensor) -> None:
    """Keras takes n for the side of a square: its n^0.5 inputs and outputs."""
    uniform(values, (3 / len(values) ** 0.5) ** 0.5)


def padded_embedding(values: Tensor) -> None:
    """Glorot-uniform vectors, but that of padding is 0."""
    assert not values[0].any()
    uniform(values[1:], (6 / (len(values) + values.shape[1])) ** 0.5)


def torchs(values: Tensor) -> None:
    """`nn.Linear`'s and `nn.Conv1d`'s weights: bound `inputs^-0.5`."""
    inputs, _ = nn.init._calculate_fan_in_and_fan_out(values)
    uniform(values, inputs**-0.5)


def between(bound: float) -> Check:
    def check(values: Tensor) -> None:
        uniform(values, bound)

    return check


def truncated_normal(values: Tensor) -> None:
    """Deviation 0.05, truncated at two deviations."""
    assert values.abs().max() <= 0.1
    follows(values, "truncnorm", -2, 2, 0, 0.05)


def xavier_normal(values: Tensor) -> None:
    """Deviation `(2 / (inputs + outputs))^0.5`."""
    inputs, outputs = nn.init._calculate_fan_in_and_fan_out(values)
    follows(values, "norm", 0, (2 / (inputs + outputs)) ** 0.5)


def orthogonal(gates: int) -> Check:
    """The matrices of the gates, below each other."""

    def check(values: Tensor) -> None:
        for gate in values.double().chunk(gates):
            if len(gate) < gate.shape[1]:
                gate = gate.T
            identity = torch.eye(gate.shape[1], dtype=torch.float64)
            torch.testing.assert_close(gate.T @ gate, identity, atol=1e-5, rtol=0)

    return check


def each_gate(values: Tensor) -> None:
    """The matrices of four gates, each Glorot-uniform."""
    for gate in values.chunk(4):
        glorot(gate)


def forget(gates: int) -> Check:
    """Biases of 0, and 1 for the second gate."""

    def check(values: Tensor) -> None:
        for number, gate in enumerate(values.chunk(gates)):
            assert torch.equal(gate, torch.full_like(gate, float(number == 1)))

    return check


def coupled_kernel(values: Tensor) -> None:
    """Two directions' [D + H, 3H]: inputs Glorot-uniform, recurrences orthonormal."""
    for kernel in values:
        size = kernel.shape[1] // 3
        inputs, recurrence = kernel[:-size], kernel[-size:]
        glorot(inputs)
        orthogonal(3)(recurrence.T)


def two_glorot_vectors(values: Tensor) -> None:
    """The sum of two biases, of the inputs and of the recurrence."""
    bound = (3 / values.shape[1]) ** 0.5
    follows(values, "triang", 0.5, -2 * bound, 4 * bound)


CHARACTERS = r"token_embedder_token_characters._encoder._module"
EMBEDDED = r"token_embedder_token_characters._embedding._module.weight"
LSTM = {
    r"weight_ih_l0(_reverse)?": each_gate,
    r"weight_hh_l0(_reverse)?": orthogonal(4),
    r"bias_ih_l0(_reverse)?": forget(4),
    r"bias_hh_l0(_reverse)?": constant(0),
}
GRU = {r"\.weight_[ih]h_l0": truncated_normal, r"\.bias_[ih]h_l0": constant(0)}

ALL = {
    r"elmo\.(input|output)_mix\.weights": constant(0),
    r"elmo\.(input|output)_mix\.gamma": constant(1),
    EMBEDDED: glorot,
}
SCORER = {
    r"score\.(first|rest\.[25])\.weight": glorot,
    r"score\.(first|rest\.[25])\.bias": glorot_vector,
}
HEAD = {r"head\..*weight": glorot, r"head\..*bias": constant(0)}

STARTS: dict[str, dict[str, Check]] = {
    "squad_elmo": GRU
    | {
        rf"{CHARACTERS}\.convolution\.weight": glorot,
        rf"{CHARACTERS}\.convolution\.bias": constant(0),
        r"similarity\.(left|right|product)": keras_vector,
        r"null_score": constant(-1),
        r"merge\.0\.weight": glorot,
        r"merge\.0\.bias": constant(0),
        r"pointers\.(start|end)\.weight": glorot,
    },
    "snli_elmo": LSTM
    | {
        r"(projection|classifier\.[14])\.weight": glorot,
        r"(projection|classifier\.[14])\.bias": constant(0),
    },
    "srl_elmo": {
        r"layers\.\d\.input_weight": orthogonal(6),
        r"layers\.\d\.hidden_weight": orthogonal(5),
        r"layers\.\d\.bias": forget(6),
        r"token_embedder_predicate\.weight": padded_embedding,
        r"score_tags\.weight": orthogonal(1),
        r"score_tags\.bias": constant(0),
    },
    "coref_elmo": SCORER
    | {
        rf"{CHARACTERS}\.parts\.\d\.convolution\.weight": glorot,
        rf"{CHARACTERS}\.parts\.\d\.convolution\.bias": constant(0),
        r"encoder\.kernel": coupled_kernel,
        r"encoder\.bias": two_glorot_vectors,
        r"encoder\.first_(cell|hidden)": glorot_rows,
        r"spans\.(attention|widths)\.weight": glorot,
        r"antecedents\.(same_speaker|genre|distance)\.weight": glorot,
    },
    "ner_elmo": LSTM
    | {
        rf"{CHARACTERS}\.conv_layer_0\.weight": torchs,
        rf"{CHARACTERS}\.conv_layer_0\.bias": between((3 * 16) ** -0.5),
        r"score_tags\.weight": torchs,
        r"score_tags\.bias": between(200**-0.5),
        r"crf\.transitions": xavier_normal,
    },
    "sst_elmo": LSTM
    | HEAD
    | {
        r"feedforward\.weight": glorot,
        r"feedforward\.bias": constant(0),
        r"pool\.score\.weight": torchs,
        r"pool\.score\.bias": between(600**-0.5),
    },
}
"""For the ends of a parameter's names, how it starts."""

ELSEWHERE = (r"token_embedder_tokens\.", r"_constraint_mask")
"""Word vectors of files, and a table."""


@pytest.mark.parametrize("name", STARTS)
def test_each_parameter_starts_as_the_paper_or_its_code(
    name: str, configs: Path, tmp_path: Path
) -> None:
    unused = set(STARTS[name])
    training = build(tmp_path, configs / f"paper/{name}.jsonnet")
    for place, parameter in training.trainer.model.named_parameters():
        if any(re.search(pattern, place) for pattern in ELSEWHERE):
            continue
        rules = ALL | STARTS[name]
        (pattern,) = [one for one in rules if re.search(f"{one}$", place)]
        unused.discard(pattern)
        rules[pattern](parameter.detach())
    assert unused == set()


def test_another_bound_is_noticed() -> None:
    torch.manual_seed(1)
    values = torch.empty(60, 60)
    for other in (0.9, 1.1):
        nn.init.uniform_(values, -other, other)
        with pytest.raises(AssertionError):
            uniform(values, 1.0)
    with pytest.raises(AssertionError):
        xavier_normal(torch.from_numpy(np.random.randn(60, 60)))
