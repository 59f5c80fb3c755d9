"""The SRL tagger: widths, loss by hand, padding, the predicate's mark, tags it has never seen, the ELMo switch."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.srl.model import SrlTagger
from tests.models import check_gradients, check_null_elmo, check_penalty, fit, tensors
from tests.srl.samples import TINY, build, corpus, instance
from tests.tiny import ELMO_DIM


@pytest.mark.parametrize("elmo", [None, {"at": "input"}, {"at": "both", "mix": "last"}])
def test_batch_equals_singles(tmp_path: Path, elmo: dict[str, Any] | None) -> None:
    model = build(tmp_path, elmo)
    together, losses = model(**tensors(model.vocab, corpus())), []
    assert len({len(words) for words in together["words"]}) > 1
    for row, one in enumerate(corpus()):
        alone, length = model(**tensors(model.vocab, [one])), len(together["words"][row])
        losses.append(alone["loss"].item())
        assert torch.allclose(together["logits"][row, :length], alone["logits"][0], atol=1e-5)
        assert together["tags"][row] == alone["tags"][0]
    assert together["loss"].item() == pytest.approx(sum(losses) / len(losses), rel=1e-5)


@pytest.mark.parametrize(
    ("at", "words", "width", "out"),
    [
        (None, True, 7, 6),
        ("input", True, 7 + ELMO_DIM, 6),
        ("output", True, 7, 6 + ELMO_DIM),
        ("both", True, 7 + ELMO_DIM, 6 + ELMO_DIM),
        ("input", False, 3 + ELMO_DIM, 6),
    ],
)
def test_widths(tmp_path: Path, at: str | None, words: bool, width: int, out: int) -> None:
    model = build(tmp_path, None if at is None else {"at": at}, word_vectors=words)
    assert model.lowest_layers.get_input_dim() == width
    assert model.score_tags.in_features == out
    assert model(**tensors(model.vocab, corpus()))["loss"].isfinite()


@pytest.mark.parametrize("elmo", [None, {"at": "output"}])
def test_the_mark_of_the_predicate_is_not_enough(tmp_path: Path, elmo: dict[str, Any] | None) -> None:
    with pytest.raises(InputError, match="nothing is left to embed: no word vectors, no characters, no ELMo at the"):
        build(tmp_path, elmo, word_vectors=False)


@pytest.mark.parametrize("sum_token_losses", [True, False])
def test_loss_by_hand(tmp_path: Path, sum_token_losses: bool) -> None:
    model = build(tmp_path, sum_token_losses=sum_token_losses)
    short, long = instance("Rain fell", 1, "B-ARG1 B-V"), instance("Mira sold two jars", 1, "B-ARG0 B-V B-ARG1 I-ARG1")
    output = model(**tensors(model.vocab, [short, long]))
    expected = 0.0
    for row, gold in enumerate((["B-ARG1", "B-V"], ["B-ARG0", "B-V", "B-ARG1", "I-ARG1"])):
        logs = output["logits"][row].log_softmax(1)
        losses = [-logs[place, model.tags.index(tag)].item() for place, tag in enumerate(gold)]
        expected += sum(losses) / (1 if sum_token_losses else len(losses)) / 2
    assert output["loss"].item() == pytest.approx(expected, rel=1e-5)


def test_the_mark_alone_tells_the_predicate(tmp_path: Path) -> None:
    model = build(tmp_path)
    batch = tensors(model.vocab, [instance("Mira sold two jars", place) for place in (1, 1, 3)])
    logits = model(**batch)["logits"]
    assert torch.allclose(logits[0], logits[1], atol=1e-6)
    assert (logits[0] - logits[2]).abs().min(dim=1).values.max() > 1e-4


def test_starting_values(tmp_path: Path) -> None:
    model = build(tmp_path)
    weight = model.score_tags.weight  # [tags, 6]
    assert torch.allclose(weight.T @ weight, torch.eye(6), atol=1e-5)
    assert not model.score_tags.bias.any()


def test_outputs(tmp_path: Path) -> None:
    model = build(tmp_path)
    batch = tensors(model.vocab, corpus())
    output = model.make_output_human_readable(model(**batch))
    assert set(output) == {"words", "predicate", "tags", "loss"}
    assert [len(tags) for tags in output["tags"]] == [len(words) for words in output["words"]]
    assert output["predicate"] == [3, 6, 0, 6, 9, 5, 1]
    assert "loss" not in model(batch["tokens"], batch["metadata"])
    assert "tags" not in model.train()(**batch)


def test_metrics_at_the_end_of_a_pass_and_before(tmp_path: Path) -> None:
    model = build(tmp_path, {"at": "input", "l2": 0.1})
    model(**tensors(model.vocab, corpus()))
    assert set(model.get_metrics()) == {"precision", "recall", "f1"}
    metrics = model.get_metrics(reset=True)
    assert {"f1", "recall-ARG0", "f1-V", "elmo_input_s0", "elmo_input_gamma"} <= set(metrics)
    assert model.get_metrics()["f1"] == 0.0
    assert set(model.train().get_metrics(reset=True)) == {f"elmo_input_{name}" for name in ("s0", "s1", "s2", "gamma")}


def test_gold_tags_that_the_model_has_not_are_misses_and_no_loss(tmp_path: Path) -> None:
    model = build(tmp_path)
    known, foreign = instance("Rain fell", 1, "B-ARG1 B-V"), instance("Rain fell", 1, "B-ARG9 B-V")
    model(**tensors(model.vocab, [foreign]))
    assert model.f1.report()["labels"]["ARG9"]["gold"] == 1
    output = model(**tensors(model.vocab, [foreign]))
    kept = -output["logits"][0, 1].log_softmax(0)[model.tags.index("B-V")].item()
    assert output["loss"].item() == pytest.approx(kept, rel=1e-5)
    model.vocab.add_token_to_namespace("B-ARG9", "labels")
    again = instance("Rain fell", 1, "B-ARG9 B-V")
    assert model(**tensors(model.vocab, [again]))["loss"].item() == pytest.approx(kept, rel=1e-5)
    lost = model(**tensors(model.vocab, [instance("Rain fell", 1, "B-X B-Y"), known]))["loss"]
    assert lost.isfinite()


@pytest.mark.parametrize(("elmo", "count"), [(None, 13), ({"at": "input"}, 15), ({"at": "both"}, 17)])
def test_gradients_everywhere(tmp_path: Path, elmo: dict[str, Any] | None, count: int) -> None:
    model = build(tmp_path, elmo)
    check_gradients(model, tensors(model.vocab, corpus()), count=count)


def test_the_penalty_is_added_to_the_loss(tmp_path: Path) -> None:
    check_penalty(partial(build, tmp_path), lambda vocab: tensors(vocab, corpus()), place="input", tolerance=1e-3)


def test_learns_the_fixtures(tmp_path: Path) -> None:
    encoder = {**TINY["encoder"], "dropout": 0.0, "hidden_size": 16, "num_layers": 2}
    model = build(tmp_path, encoder=encoder)
    batch = tensors(model.vocab, corpus())
    fit(model, batch, lr=0.05, steps=60)
    assert model.get_metrics(reset=True)["f1"] == 1.0


def test_null_elmo_is_the_baseline(tmp_path: Path) -> None:
    check_null_elmo(partial(build, tmp_path), lambda vocab: tensors(vocab, corpus()))


def test_a_misspelt_key(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="SrlTagger has no key word_vector"):
        build(tmp_path, word_vector=False)
    assert SrlTagger.default_predictor == "elmo_tasks_srl"
