"""
ESIM, its metric and its predictor. Properties of all task models are in
tests/tasks/test_task_models.py.
"""

import pytest
import torch
from allennlp.data import Instance

from elmo_tasks.tasks.snli.model import attention_weights
from elmo_tasks.tasks.snli.reader import SnliReader
from tests.models import Build, tensors

PAIRS = [
    ("the ferry sank near the old stone pier", "a ferry sank", "entailment"),
    (
        "it rained",
        "the sun shone on the pier all through the long day",
        "contradiction",
    ),
    ("Mira left", "Mira sang", "neutral"),
]


RECURRENT = (
    "weight_ih_l0",
    "weight_hh_l0",
    "weight_ih_l0_reverse",
    "weight_hh_l0_reverse",
)
"""The weight matrices of a bidirectional LSTM of PyTorch."""


def corpus() -> list[Instance]:
    """New instances, which are not indexed yet."""
    reader = SnliReader()
    made = []
    for premise, hypothesis, gold in PAIRS:
        one = reader.text_to_instance(premise.split(), hypothesis.split(), gold)
        reader.apply_token_indexers(one)
        made.append(one)
    return made


def test_low_attention_scores_do_not_lose_to_padding() -> None:
    scores = torch.tensor([[[-900.0, 0.0], [-900.0, 0.0]]])
    weights = attention_weights(scores, torch.tensor([[True, False]]))
    assert weights.tolist() == [[[1.0, 0.0], [1.0, 0.0]]]


def test_logits_from_the_parts(build: Build) -> None:
    model = build(given=corpus())
    batch = tensors(model.vocab, corpus()[:1])
    p = model.input_encoder(batch["premise"]).h[0]
    q = model.input_encoder(batch["hypothesis"]).h[0]
    pooled = []
    for own, other in ((p, q), (q, p)):
        attended = (own @ other.T).softmax(1) @ other
        parts = torch.cat([own, attended, own - attended, own * attended], 1)
        projected = torch.relu(model.projection(parts))[None]
        mask = torch.ones(1, len(own), dtype=torch.bool)
        composed = model.composition(projected, mask)[0]
        pooled += [composed.mean(0), composed.max(0).values]
    hidden = torch.relu(model.classifier[1](torch.cat(pooled)))
    output = model(**batch)
    assert torch.allclose(output["logits"][0], model.classifier[4](hidden), atol=1e-6)
    expected = -output["logits"].log_softmax(1)[0, batch["label"]].item()
    assert output["loss"].item() == pytest.approx(expected, rel=1e-6)


def test_elmo_brings_a_penalty_on_weight_matrices(build: Build) -> None:
    regularizer = {"regexes": [["classifier.4.bias", {"type": "l2", "alpha": 2.0}]]}
    model = build({"at": "both"}, corpus(), weight_l2=0.01, regularizer=regularizer)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    expected_names = {"projection.weight", "classifier.1.weight", "classifier.4.weight"}
    for lstm in ("input_encoder.encoder", "composition"):
        for name in RECURRENT:
            expected_names.add(f"{lstm}.layers.0.{name}")
    matrices = model.weight_matrices()
    assert len(matrices) == len(expected_names)
    assert {names[id(matrix)] for matrix in matrices} == expected_names
    model.get_parameter("classifier.4.bias").data.fill_(1.0)
    squares = [matrix.square().sum().item() for matrix in matrices]
    expected = 0.01 * sum(squares) + 2.0 * 3
    penalty = model.get_regularization_penalty()
    assert penalty is not None and penalty.item() == pytest.approx(expected, rel=1e-5)
    assert build(weight_l2=0.01).get_regularization_penalty() is None


def test_missing_labels_are_added(build: Build) -> None:
    model = build(given=corpus()[2:])
    assert model.labels == ["neutral", "entailment", "contradiction"]
    assert list(model.vocab.get_token_to_index_vocabulary("labels")) == model.labels
    assert model(**tensors(model.vocab, corpus()))["logits"].shape == (3, 3)
