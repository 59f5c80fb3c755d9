"""ESIM: attention, enhancement and pooling by loops, padding, what comes with ELMo alone, learning."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Instance
from torch import Tensor

from elmo_tasks.errors import InputError
from elmo_tasks.snli.model import EntailmentModel, attend, enhance, pool_pairs, stack
from elmo_tasks.snli.predictor import SnliPredictor
from elmo_tasks.snli.reader import LABELS, SnliReader
from tests.models import check_gradients, check_null_elmo, fit, make_model, tensors
from tests.tiny import ELMO_DIM

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "snli" / "snli_1.0_train.jsonl"
LSTM = {"type": "elmo_tasks_stacked_lstm", "hidden_sizes": [3], "dropout": 0.3}
TINY: dict[str, Any] = {
    "type": "elmo_tasks_snli",
    "text_field_embedder": {"token_embedders": {"tokens": {"type": "elmo_tasks_word_vectors", "embedding_dim": 4}}},
    "encoder": LSTM,
    "composition": LSTM,
    "hidden_size": 5,
}
PAIRS = [
    ("the ferry sank near the old stone pier", "a ferry sank", "entailment"),
    ("it rained", "the sun shone on the pier all through the long day", "contradiction"),
    ("Mira left", "Mira sang", "neutral"),
]
ELMO: list[dict[str, Any] | None] = [None, {"at": "input"}, {"at": "both", "layer_norm": "sentence", "l2": 0.001}]
Build = Callable[..., EntailmentModel]


def corpus() -> list[Instance]:
    """Made anew: instances that were indexed once give no words to another vocabulary."""
    reader = SnliReader()
    made = [reader.text_to_instance(premise.split(), hypothesis.split(), gold) for premise, hypothesis, gold in PAIRS]
    for one in made:
        reader.apply_token_indexers(one)
    return made


@pytest.fixture
def build(tmp_path: Path) -> Build:
    def make(elmo: dict[str, Any] | None = None, given: list[Instance] | None = None, **keys: Any) -> EntailmentModel:
        model = make_model(TINY, given or corpus(), tmp_path, elmo, **keys)
        assert isinstance(model, EntailmentModel)
        return model

    return make


def ragged(*lengths: int) -> Tensor:
    return torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]


def test_attention_equals_loops() -> None:
    lengths = (4, 2, 1, 3)  # two premises, then their hypotheses
    h, mask = torch.randn(4, 4, 3), ragged(*lengths)
    attended, weights = attend(h, mask)
    for row, length in enumerate(lengths):
        partner = (row + 2) % 4
        for word in range(length):
            scores = [float(h[row, word] @ h[partner, other]) for other in range(lengths[partner])]
            total = sum(math.exp(score) for score in scores)
            wanted = [math.exp(score) / total for score in scores] + [0.0] * (4 - lengths[partner])
            assert weights[row, word].tolist() == pytest.approx(wanted, abs=1e-6)
            summed = [sum(w * float(h[partner, o, d]) for o, w in enumerate(wanted)) for d in range(3)]
            assert attended[row, word].tolist() == pytest.approx(summed, abs=1e-5)


def test_padding_wins_over_no_score_however_low() -> None:
    h, mask = torch.tensor([[[30.0], [30.0]], [[-30.0], [0.0]]]), ragged(2, 1)
    attended, weights = attend(h, mask)
    assert weights[0].tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert attended[0].tolist() == [[-30.0], [-30.0]]


def test_enhancement_by_hand() -> None:
    enhanced = enhance(torch.tensor([[[2.0, -1.0]]]), torch.tensor([[[0.5, 3.0]]]))
    assert enhanced.tolist() == [[[2.0, -1.0, 0.5, 3.0, 1.5, -4.0, 1.0, -3.0]]]


def test_pooling_by_hand() -> None:
    premise, hypothesis = [[1.0, -4.0], [3.0, -2.0]], [[-5.0, 6.0], [99.0, 99.0]]
    pooled = pool_pairs(torch.tensor([premise, hypothesis]), ragged(2, 1))
    assert pooled.tolist() == [[2.0, -3.0, 3.0, -2.0, -5.0, 6.0, -5.0, 6.0]]


def test_sentences_are_stacked_to_the_longer_ones() -> None:
    premise = {"tokens": {"ids": torch.tensor([[1, 2], [3, 0]])}, "c": {"ids": torch.ones(2, 2, 5, dtype=torch.long)}}
    hypothesis = {"tokens": {"ids": torch.tensor([[4, 5, 6]])}, "c": {"ids": torch.full((1, 3, 4), 2)}}
    stacked = stack(premise, hypothesis)
    assert stacked["tokens"]["ids"].tolist() == [[1, 2, 0], [3, 0, 0], [4, 5, 6]]
    assert stacked["c"]["ids"].sum((1, 2)).tolist() == [10, 10, 24]
    assert stacked["c"]["ids"][2, :, 4].tolist() == [0, 0, 0]


@pytest.mark.parametrize("elmo", ELMO)
def test_batch_equals_singles(build: Build, elmo: dict[str, Any] | None) -> None:
    model = build(elmo)
    together = model(**tensors(model.vocab, corpus()))
    for row, instance in enumerate(corpus()):
        alone = model(**tensors(model.vocab, [instance]))
        assert torch.allclose(together["logits"][row], alone["logits"][0], atol=1e-5)
        first, second = (len(alone[name][0]) for name in ("premise", "hypothesis"))
        for rows, single, (height, width) in ((row, 0, (first, second)), (row + 3, 1, (second, first))):
            found = together["attention"][rows, :height, :width]
            assert torch.allclose(found, alone["attention"][single, :height, :width], atol=1e-5)
    assert together["logits"].std(0).min() > 1e-4


def test_the_flow_equals_its_parts_for_one_pair(build: Build) -> None:
    model = build()
    batch = tensors(model.vocab, corpus()[:1])
    p, q = (model.lowest_layers(batch[name]).h[0] for name in ("premise", "hypothesis"))
    pooled = []
    for own, other in ((p, q), (q, p)):
        attended = (own @ other.T).softmax(1) @ other
        parts = torch.cat([own, attended, own - attended, own * attended], 1)
        projected = torch.relu(model.projection(parts))[None]
        composed = model.composition(projected, torch.ones(1, len(own), dtype=torch.bool))[0]
        pooled += [composed.mean(0), composed.max(0).values]
    hidden = torch.relu(model.classifier[1](torch.cat(pooled)))
    assert torch.allclose(model(**batch)["logits"][0], model.classifier[4](hidden), atol=1e-6)


def test_the_loss_is_the_mean_over_pairs_and_the_penalty_once(build: Build) -> None:
    plain, penalised = build({"at": "both"}), build({"at": "both", "l2": 0.1})
    for model in (plain, penalised):
        weights = [parameter for name, parameter in model.named_parameters() if name.endswith("_mix.weights")]
        assert len(weights) == 2
        for parameter in weights:
            parameter.data = torch.tensor([2.0, 1.0, 0.0])
    batch = tensors(plain.vocab, corpus())
    output = plain(**batch)
    wanted = -output["logits"].log_softmax(1)[range(3), batch["label"]].mean().item()
    assert output["loss"].item() == pytest.approx(wanted, rel=1e-6)
    assert penalised(**batch)["loss"].item() == pytest.approx(wanted + 0.1 * (5 + 5), rel=1e-5)
    assert "loss" not in plain(batch["premise"], batch["hypothesis"], batch["metadata"])


def test_dropout_behind_the_attention_comes_with_elmo(build: Build) -> None:
    keys = {"attention_dropout": 0.7}
    assert build(**keys).attention_dropout.p == 0.0
    assert build({"at": "output"}, **keys).attention_dropout.p == 0.7
    model, seen = build({"at": "output"}, **keys).train(), []
    model.projection.register_forward_hook(lambda module, inputs, output: seen.append(inputs[0]))
    model(**tensors(model.vocab, corpus()[2:3]))
    assert 0.5 < (seen[0] == 0).float().mean() < 0.9


def test_every_weight_matrix_and_nothing_else_is_penalised(build: Build) -> None:
    model = build({"at": "both"}, weight_l2=0.01)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    recurrent = [f"weight_{which}_l0{way}" for which in ("ih", "hh") for way in ("", "_reverse")]
    assert sorted(names[id(matrix)] for matrix in model.weight_matrices()) == sorted(
        [f"{lstm}.layers.0.{name}" for lstm in ("lowest_layers.encoder", "composition") for name in recurrent]
        + ["projection.weight", "classifier.1.weight", "classifier.4.weight"]
    )
    wanted = 0.01 * sum(value**2 for matrix in model.weight_matrices() for value in matrix.flatten().tolist())
    penalty = model.get_regularization_penalty()
    assert penalty is not None and penalty.item() == pytest.approx(wanted, rel=1e-5)
    assert build(weight_l2=0.01).get_regularization_penalty() is None
    assert build({"at": "both"}, weight_l2=0.0).get_regularization_penalty() is None


def test_a_regularizer_of_allennlp_comes_on_top(build: Build) -> None:
    regularizer = {"regexes": [["classifier.4.bias", {"type": "l2", "alpha": 2.0}]]}
    model = build({"at": "input"}, regularizer=regularizer)
    alone = model.get_regularization_penalty()
    model.get_parameter("classifier.4.bias").data.fill_(1.0)
    both = model.get_regularization_penalty()
    assert alone is not None and both is not None
    assert (both - alone).item() == pytest.approx(6.0, abs=1e-4)


def test_widths(build: Build) -> None:
    assert build().projection.in_features == 4 * 6
    assert build({"at": "input"}).projection.in_features == 4 * 6
    assert build({"at": "both"}).projection.in_features == 4 * (6 + ELMO_DIM)
    assert build().classifier[1].in_features == 8 * 3


@pytest.mark.parametrize(("elmo", "count"), [(None, 23), ({"at": "input"}, 25), ({"at": "both"}, 27)])
def test_gradients_everywhere(build: Build, elmo: dict[str, Any] | None, count: int) -> None:
    model = build(elmo)
    check_gradients(model, tensors(model.vocab, corpus()), count=count)


def test_null_elmo_is_the_baseline(build: Build) -> None:
    check_null_elmo(build, lambda vocab: tensors(vocab, corpus()))


def test_all_three_labels_are_there_whatever_the_data_have(build: Build) -> None:
    model = build(given=corpus()[2:])
    assert model.labels == ["neutral", "entailment", "contradiction"]
    assert list(model.vocab.get_token_to_index_vocabulary("labels")) == model.labels
    assert model(**tensors(model.vocab, corpus()))["logits"].shape == (3, 3)


def test_metrics_at_the_end_of_a_pass_and_before(build: Build) -> None:
    model = build({"at": "input"})
    model(**tensors(model.vocab, corpus()))
    assert set(model.get_metrics()) == {"accuracy"}
    recalls = {f"recall-{label}" for label in LABELS}
    learned = {f"elmo_input_{name}" for name in ("s0", "s1", "s2", "gamma")}
    assert set(model.get_metrics(reset=True)) == {"accuracy"} | recalls | learned
    assert model.get_metrics()["accuracy"] == 0.0


def test_nothing_to_score_is_an_error_at_the_end_of_an_evaluation_alone(build: Build) -> None:
    model = build()
    batch = tensors(model.vocab, corpus())
    del batch["label"]
    model(**batch)
    assert model.get_metrics() == {"accuracy": 0.0}
    with pytest.raises(InputError, match="there is nothing to score: no pair has a gold label .`allennlp predict`"):
        model.get_metrics(reset=True)
    assert model.train().get_metrics(reset=True) == {"accuracy": 0.0}


def test_learns_three_pairs(build: Build) -> None:
    model = build({"at": "both", "layer_norm": "sentence"}, dropout=0.0, attention_dropout=0.0)
    batch = tensors(model.vocab, corpus())
    fit(model, batch, lr=0.05, steps=15)
    assert model.get_metrics(reset=True)["accuracy"] == 1.0


def test_the_predictor_shows_attention_without_padding(build: Build) -> None:
    predictor = SnliPredictor(build({"at": "both"}), SnliReader())
    inputs = [{"premise": premise, "hypothesis": hypothesis} for premise, hypothesis, _ in PAIRS]
    for result, (premise, hypothesis, _) in zip(predictor.predict_batch_json(inputs), PAIRS, strict=True):
        first, second = len(premise.split()), len(hypothesis.split())
        assert [len(row) for row in result["premise_attention"]] == [second] * first
        assert [len(row) for row in result["hypothesis_attention"]] == [first] * second
        for row in result["premise_attention"] + result["hypothesis_attention"]:
            assert sum(row) == pytest.approx(1.0, abs=1e-5)
        assert sum(result["probabilities"].values()) == pytest.approx(1.0, abs=1e-5)
        assert result["label"] == max(result["probabilities"], key=result["probabilities"].get)
    assert EntailmentModel.default_predictor == "elmo_tasks_snli"


def test_the_official_fixture(build: Build) -> None:
    instances = list(SnliReader().read(FIXTURE))
    model = build(given=list(SnliReader().read(FIXTURE)))
    assert model(**tensors(model.vocab, instances))["loss"].isfinite()


@pytest.mark.parametrize("key", ["word_vector", "attention_drop"])
def test_a_misspelt_key(build: Build, key: str) -> None:
    with pytest.raises(InputError, match=f"EntailmentModel has no key {key}"):
        build(**{key: 0})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"hidden_size": 0}, "hidden_size must be a whole number of at least 1, found 0"),
        ({"dropout": -0.1}, "dropout must be at least 0 and below 1, found -0.1"),
        ({"attention_dropout": 1}, "attention_dropout must be at least 0 and below 1, found 1"),
        ({"input_dropout": 1.5}, "input_dropout must be at least 0 and below 1, found 1.5"),
        ({"weight_l2": -1.0}, "weight_l2 must be a number of at least 0, found -1.0"),
    ],
)
def test_numbers_out_of_range(build: Build, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(**keys)


def test_training_without_labels(build: Build) -> None:
    model = build()
    batch = tensors(model.vocab, corpus())
    del batch["label"]
    assert "loss" not in model(**batch)
    with pytest.raises(InputError, match="training needs gold answers"):
        model.train()(**batch)
