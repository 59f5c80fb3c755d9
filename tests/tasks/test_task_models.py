"""Properties of all six task models, on the fixtures and with stored models."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common.util import sanitize
from allennlp.data import Instance
from allennlp.models import Model, load_archive
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from elmo_tasks.tasks import TASKS
from elmo_tasks.tasks.task_model import SoftmaxModel
from elmo_tasks.training.pass_loss import loss_of_pass
from tests import models
from tests.archives.make import INPUTS, STORED
from tests.archives.test_stored import assert_close
from tests.models import make_model, tensors
from tests.tiny import FIXTURES

LOW = [torch.float16, torch.bfloat16]
BILM = {
    "options_file": str(FIXTURES / "bilm/options.json"),
    "weight_file": str(FIXTURES / "bilm/weights.hdf5"),
}
BOTH = {"at": "both", "layer_norm": "sentence"}

SUMMED = ("coref", "ner")
"""Tasks whose loss is the sum over a batch, not the mean."""

WITH_SCORES = [
    task
    for task in TASKS
    if issubclass(Model.by_name(f"elmo_tasks_{task}"), SoftmaxModel)
]

for_all_tasks = pytest.mark.parametrize("task", TASKS)
for_stored = pytest.mark.parametrize("task", INPUTS)


def corpus(task: str) -> list[Instance]:
    return models.corpus(task)[:6]


def build(
    task: str, folder: Path, elmo: dict[str, Any] | None = None, **keys: Any
) -> Model:
    """A small model with random weights, in evaluation mode."""
    return make_model(task, corpus(task), folder, elmo, **keys)


def loss_of(model: Model, instances: list[Instance]) -> float:
    """The loss of a batch."""
    loss: float = model(**tensors(model.vocab, instances))["loss"].item()
    return loss


@pytest.mark.parametrize("elmo", [None, BOTH], ids=["none", "both"])
@for_all_tasks
def test_a_batch_equals_its_instances(
    task: str, elmo: dict[str, Any] | None, tmp_path: Path
) -> None:
    model = build(task, tmp_path, elmo)
    singles = [model.forward_on_instances([one])[0] for one in corpus(task)]
    assert_close(sanitize(singles), sanitize(model.forward_on_instances(corpus(task))))
    if task == "tagger":  # whose loss is a mean over words
        return
    losses = [loss_of(model, [one]) for one in corpus(task)]
    expected = sum(losses)
    if task not in SUMMED:
        expected /= len(losses)
    assert loss_of(model, corpus(task)) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("elmo", "count"),
    [(None, 0), ({"at": "input"}, 2), (BOTH, 4)],
    ids=["none", "input", "both"],
)
@for_all_tasks
def test_all_parameters_get_gradients(
    task: str, elmo: dict[str, Any] | None, count: int, tmp_path: Path
) -> None:
    model = build(task, tmp_path, elmo)
    if task == "sst":
        model.pool.score.bias.requires_grad_(False)  # a softmax cancels it
    steps = 1
    if task == "coref":  # which trains on a random part of a document
        steps = 5
    for _ in range(steps):
        model.train()(**tensors(model.vocab, corpus(task)))["loss"].backward()
    weights_of_mixes = []
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        if "_mix." in name:
            weights_of_mixes.append(name)
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name
        assert parameter.grad.isfinite().all(), name
    assert len(weights_of_mixes) == count


@for_all_tasks
def test_an_initializer_replaces_initial_weights(task: str, tmp_path: Path) -> None:
    small = {"regexes": [["elmo.*gamma$", {"type": "constant", "val": 0.02}]]}
    learned = build(task, tmp_path, BOTH, initializer=small).input_encoder.describe()
    gammas = [value for name, value in learned.items() if name.endswith("gamma")]
    assert gammas == pytest.approx([0.02, 0.02])


@for_all_tasks
def test_the_penalty_includes_elmos(task: str, tmp_path: Path) -> None:
    gamma = ["input_encoder.elmo.input_mix.gamma", {"type": "l2", "alpha": 2.0}]
    regularizer = {"regexes": [gamma]}
    penalties = []
    for l2, keys in ((None, {}), (0.1, {}), (0.1, {"regularizer": regularizer})):
        model = build(task, tmp_path, {"at": "input", "l2": l2}, **keys)
        model.input_encoder.elmo.input_mix.weights.data = torch.tensor([2.0, 1.0, 0.0])
        penalties.append(model.get_regularization_penalty())
    without, elmos, both = penalties
    others = 0.0
    if task == "snli":  # which penalizes its weight matrices, too
        others = without.item()
    else:
        assert without is None
    assert elmos.item() - others == pytest.approx(0.1 * 5)
    assert both.item() - others == pytest.approx(0.1 * 5 + 2.0)


@for_all_tasks
def test_outputs_without_gold_answers(task: str, tmp_path: Path) -> None:
    model = build(task, tmp_path)
    batch = tensors(model.vocab, corpus(task))
    for name in Predictor.by_name(f"elmo_tasks_{task}").gold_fields:
        batch.pop(name, None)
    if task == "coref":
        for known in batch["metadata"]:
            known["clusters"] = None
    output = model(**batch)
    assert "loss" not in output and model.make_output_human_readable(output)
    with pytest.raises(InputError, match="training needs gold answers"):
        model.train()(**batch)


@pytest.mark.parametrize(
    ("task", "keys", "message"),
    [
        (
            "squad",
            {"encoder": {"type": "gru", "hidden_size": 3}},
            "expected an encoder with an even output size",
        ),
        (
            "snli",
            {"encoder": {"type": "lstm", "hidden_size": 4, "input_size": 99}},
            "of width 3, got 99 .*input_size",
        ),
        ("snli", {"word_vectors": False}, "nothing is left to embed"),
    ],
)
def test_invalid_settings(
    task: str, keys: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        build(task, tmp_path, **keys)


@pytest.mark.parametrize("task", WITH_SCORES)
def test_answer_of_score_is_forward(task: str, tmp_path: Path) -> None:
    model = build(task, tmp_path)
    batch = tensors(model.vocab, corpus(task))
    output = model(**batch)
    scores = model.score(**batch)
    answer = model.answer(scores, **batch)
    assert answer.keys() == output.keys()
    assert torch.equal(answer["loss"], output["loss"])
    for name in scores:
        if name.endswith("logits"):
            scores[name] = scores[name].flip(-1)
    assert not torch.equal(model.answer(scores, **batch)["loss"], output["loss"])


@pytest.mark.parametrize("dtype", LOW, ids=str)
@for_all_tasks
def test_trains_under_autocast(task: str, dtype: torch.dtype, tmp_path: Path) -> None:
    model = build(task, tmp_path, {**BILM, **BOTH})
    batch = tensors(model.vocab, corpus(task))
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=0.01)
    exact = model(**batch)["loss"].item()
    with torch.autocast("cpu", dtype=dtype):
        assert model(**batch)["loss"].item() == pytest.approx(exact, rel=0.01)
        (output,) = model.forward_on_instances(corpus(task)[:1])
        assert "loss" in output
        loss = model.train()(**batch)["loss"]
    loss.backward()
    optimizer.step()
    assert loss.isfinite()
    for name, parameter in model.named_parameters():
        assert parameter.isfinite().all(), name


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@for_stored
def test_scores_that_are_not_finite_are_an_error(task: str, value: float) -> None:
    predictor = Predictor.from_archive(load_archive(STORED / "1" / f"{task}.tar.gz"))
    model = predictor._model
    for parameter in model.parameters():
        parameter.data.fill_(value)
    with pytest.raises(InputError, match="the model gives no finite numbers"):
        predictor.predict_json(INPUTS[task])
    batch = tensors(model.vocab, corpus(task))
    assert not model(**batch)["loss"].isfinite()
    with (
        loss_of_pass(model),
        pytest.raises(InputError, match="the model gives no finite numbers"),
    ):
        model(**batch)
