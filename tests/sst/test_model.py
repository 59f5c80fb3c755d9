"""The sentiment classifier: its parts in order, padding, labels in any order, gradients, the ELMo switch."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Instance

from elmo_tasks.errors import InputError
from elmo_tasks.modules import feedforward_lstm  # noqa: F401 (registers the encoder)
from elmo_tasks.sst.model import SentimentClassifier
from elmo_tasks.sst.predictor import SstPredictor
from elmo_tasks.sst.reader import SstReader
from tests.models import check_null_elmo, check_penalty, fit, make_model, tensors
from tests.tiny import ELMO_DIM

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "sst" / "trees.txt"
TINY: dict[str, Any] = {
    "type": "elmo_tasks_sst",
    "text_field_embedder": {"token_embedders": {"tokens": {"type": "elmo_tasks_word_vectors", "embedding_dim": 4}}},
    "encoder": {
        "type": "elmo_tasks_feedforward_lstm",
        "feedforward_size": 5,
        "feedforward_dropout": 0.3,
        "hidden_sizes": [6],
    },
    "integrator": {"type": "elmo_tasks_stacked_lstm", "hidden_sizes": [3]},
    "head": {"hidden_sizes": [8, 7], "dropout": [0.2, 0.2]},
    "input_dropout": 0.25,
    "pooled_dropout": 0.1,
}
ELMOS = [None, {"at": "input"}, {"at": "both"}, {"at": "output", "layer_norm": "sentence"}]
Build = Callable[..., SentimentClassifier]


def corpus(**keys: Any) -> list[Instance]:
    """Read anew: instances that were indexed once give no labels to another vocabulary."""
    return list(SstReader(**keys).read(FIXTURE))


def labelled(*labels: str) -> list[Instance]:
    """A text for each label."""
    reader = SstReader()
    made = [reader.text_to_instance(["It", "works"], label) for label in labels]
    for one in made:
        reader.apply_token_indexers(one)
    return made


@pytest.fixture
def build(tmp_path: Path) -> Build:
    def make(
        given: Sequence[Instance] | None = None, elmo: dict[str, Any] | None = None, **keys: Any
    ) -> SentimentClassifier:
        model = make_model(TINY, given or corpus(), tmp_path, elmo, **keys)
        assert isinstance(model, SentimentClassifier)
        return model

    return make


@pytest.mark.parametrize("elmo", ELMOS)
def test_batch_equals_singles(build: Build, elmo: dict[str, Any] | None) -> None:
    model = build(elmo=elmo)
    together = model(**tensors(model.vocab, corpus()))
    losses = []
    for row, instance in enumerate(corpus()):
        alone = model(**tensors(model.vocab, [instance]))
        losses.append(alone["loss"].item())
        assert torch.allclose(together["logits"][row], alone["logits"][0], atol=1e-5)
        assert together["words"][row] == alone["words"][0]
    assert len({len(words) for words in together["words"]}) == 4, "there is padding of several lengths"
    assert together["loss"].item() == pytest.approx(sum(losses) / len(losses), rel=1e-5)


def test_widths(build: Build) -> None:
    model = build(elmo={"at": "both"})
    h = 2 * 6 + ELMO_DIM
    assert model.lowest_layers.get_input_dim() == 4 + ELMO_DIM
    assert model.lowest_layers.get_output_dim() == h
    assert model.integrator.get_input_dim() == 3 * h
    assert model.pool.get_output_dim() == 4 * 2 * 3


def test_the_flow_from_h_to_the_loss(build: Build) -> None:
    model = build()
    batch = tensors(model.vocab, corpus())
    h, _, mask = model.lowest_layers(batch["tokens"])
    rows, gold = [], batch["label"].tolist()
    for row, length in enumerate(mask.sum(1).tolist()):
        x = h[row : row + 1, :length]  # [1, T, D]
        c = (x @ x.transpose(1, 2)).softmax(2) @ x
        whole = torch.ones(1, length, dtype=torch.bool)
        integrated = model.integrator(torch.cat([x, x - c, x * c], 2), whole)
        rows.append(model.head(model.pool(integrated, whole))[0])
    output = model(**batch)
    assert torch.allclose(output["logits"], torch.stack(rows), atol=1e-5)
    wanted = -sum(row.log_softmax(0)[label] for row, label in zip(rows, gold, strict=True)).item() / len(rows)
    assert output["loss"].item() == pytest.approx(wanted, rel=1e-5)
    assert torch.allclose(output["probabilities"].sum(1), torch.ones(4))


@pytest.mark.parametrize("elmo", ELMOS)
def test_gradients_everywhere(build: Build, elmo: dict[str, Any] | None) -> None:
    model = build(elmo=elmo).train()
    model(**tensors(model.vocab, corpus(min_phrase_length=1)))["loss"].backward()
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    assert len(parameters) == 1 + 2 + 8 + 8 + 2 + 6 + 2 * (0 if elmo is None else 2 if elmo["at"] == "both" else 1)
    # A bias added to all scores of a softmax changes nothing.
    still = [name for name, p in parameters.items() if p.grad is None or p.grad.abs().max() < 1e-9]
    assert still == ["pool.score.bias"]


def test_labels_that_no_text_has_are_added(build: Build) -> None:
    model = build(labelled("3", "1"))
    assert sorted(model.labels) == ["0", "1", "2", "3", "4"]
    assert list(model.vocab.get_token_to_index_vocabulary("labels")) == model.labels
    assert model.labels[:2] == ["3", "1"], "ids that the data have been given stay"
    assert sorted(build(corpus(classes=2)).labels) == ["negative", "positive"]


def test_the_order_of_the_labels_changes_no_answer(build: Build) -> None:
    """The same weights with the rows of the last layer in another order, as another vocabulary would have them."""
    first = build()
    second = build(labelled(*"41302"))
    order = [first.labels.index(label) for label in second.labels]
    assert order != [0, 1, 2, 3, 4]
    state = first.state_dict()
    *_, weight, bias = [name for name in state if name.startswith("head.")]
    state[weight], state[bias] = state[weight][order], state[bias][order]
    second.load_state_dict({name: value for name, value in state.items() if "embedder" not in name}, strict=False)
    second.lowest_layers.embedder = first.lowest_layers.embedder
    batches = [tensors(model.vocab, corpus()) for model in (first, second)]
    batches[1]["tokens"] = batches[0]["tokens"]
    outputs = [model(**batch) for model, batch in zip((first, second), batches, strict=True)]
    assert outputs[0]["loss"].item() == pytest.approx(outputs[1]["loss"].item(), rel=1e-5)
    assert first.get_metrics() == second.get_metrics()
    readable = [model.make_output_human_readable(out) for model, out in zip((first, second), outputs, strict=True)]
    assert readable[0]["label"] == readable[1]["label"]
    for one, other in zip(*(out["probabilities"] for out in readable), strict=True):
        assert one == pytest.approx(other, rel=1e-5)


def test_outputs(build: Build) -> None:
    model = build()
    output = model.make_output_human_readable(model(**tensors(model.vocab, corpus())))
    assert set(output) == {"words", "probabilities", "label", "loss"}
    assert [set(row) for row in output["probabilities"]] == [set("01234")] * 4
    batch = tensors(model.vocab, corpus())
    assert "loss" not in model(batch["tokens"], batch["metadata"])


def test_metrics_at_the_end_of_a_pass_and_before(build: Build) -> None:
    model = build(elmo={"at": "both", "l2": 0.001})
    model(**tensors(model.vocab, corpus()))
    assert set(model.get_metrics()) == {"accuracy", "accuracy_two_way"}
    assert {"elmo_input_s0", "elmo_output_s2", "elmo_output_gamma"} <= set(model.get_metrics(reset=True))
    assert model.get_metrics()["accuracy"] == 0.0


def test_the_penalty_is_added_to_the_loss(build: Build) -> None:
    check_penalty(build, lambda vocab: tensors(vocab, corpus()), place="output", tolerance=1e-4)


@pytest.mark.parametrize("head", ["elmo_tasks_relu", "elmo_tasks_maxout"])
def test_learns_a_few_phrases(build: Build, head: str) -> None:
    encoder = {**TINY["encoder"], "feedforward_dropout": 0.0}
    keys = {"encoder": encoder, "head": {"type": head, "hidden_sizes": [20, 20], "dropout": [0.0, 0.0]}}
    model = build(elmo={"at": "both"}, **keys, input_dropout=0.0, pooled_dropout=0.0)
    batch = tensors(model.vocab, corpus(min_phrase_length=4))
    fit(model, batch, lr=0.02, steps=40)
    assert model.get_metrics(reset=True)["accuracy"] == 1.0


def test_null_elmo_is_the_baseline(build: Build) -> None:
    check_null_elmo(build, lambda vocab: tensors(vocab, corpus()))


def test_predictor_and_name(build: Build) -> None:
    result = SstPredictor(build(), SstReader()).predict("The ferry isn't late.")
    assert result["tokens"] == ["The", "ferry", "is", "n't", "late", "."]
    assert sum(result["probabilities"].values()) == pytest.approx(1.0, abs=1e-5)
    assert SentimentClassifier.default_predictor == "elmo_tasks_sst"


def test_a_misspelt_key(build: Build) -> None:
    with pytest.raises(InputError, match="SentimentClassifier has no key pooled_dropuot"):
        build(pooled_dropuot=0.1)


def test_labels_of_five_classes_and_of_two(build: Build) -> None:
    with pytest.raises(InputError, match="labels of five classes and of two: 0, .*positive .*set classes alike"):
        build([*labelled("0", "3"), *corpus(classes=2)])


def test_a_label_that_the_model_lacks(build: Build) -> None:
    model = build(corpus(classes=2))
    with pytest.raises(InputError, match="the label '3' is none of those that the model was made with: negative, pos"):
        tensors(model.vocab, labelled("3"))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"pooled_dropout": 1.0}, "pooled_dropout must be at least 0 and below 1, found 1.0"),
        ({"head": {"hidden_sizes": [], "dropout": []}}, r"head.hidden_sizes must be a list, a number for each .*\[\]"),
        ({"head": {"hidden_sizes": [3, 4], "dropout": [0.1]}}, r"head.dropout must be a list, .* found \[0.1\]"),
        ({"head": {"hidden_sizes": [0], "dropout": [0.1]}}, "each of head.hidden_sizes must be a whole number"),
        ({"head": {"hidden_sizes": [3], "dropout": [-0.1]}}, "each of head.dropout must be at least 0"),
        (
            {"head": {"type": "elmo_tasks_maxout", "hidden_sizes": [3], "dropout": [0.1], "pool_size": 0}},
            "head.pool_size must be a whole number of at least 1, found 0",
        ),
        ({"encoder": {**TINY["encoder"], "feedforward_size": 0}}, "feedforward_size must be a whole number"),
        ({"encoder": {**TINY["encoder"], "feedforward_dropout": 2}}, "feedforward_dropout must be at least 0"),
    ],
)
def test_numbers_out_of_range(build: Build, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(**keys)
