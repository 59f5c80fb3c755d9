"""Properties of all six task models, on the fixtures."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.util import sanitize
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from torch import nn

from elmo_tasks.errors import InputError
from elmo_tasks.modules.task_model import SoftmaxModel
from tests.archives.make import TASKS
from tests.archives.test_stored import assert_close
from tests.models import check_gradients, check_null_elmo, check_penalty, make_model, tensors

SUMMED = ("coref", "ner")
"""Tasks whose loss is the sum over a batch, not the mean."""

PARAMETERS = {"coref": 29, "ner": 23, "snli": 23, "squad": 49, "srl": 13, "sst": 26}
BOTH = {"at": "both", "layer_norm": "sentence"}


def corpus(task: str) -> list[Instance]:
    """New instances, which are not indexed yet."""
    return list(DatasetReader.from_params(Params({"type": f"elmo_tasks_{task}"})).read(TASKS[task][1]))


def build(task: str, folder: Path, elmo: dict[str, Any] | None = None, **keys: Any) -> Model:
    return make_model(TASKS[task][0], corpus(task), folder, elmo, **keys)


@pytest.mark.parametrize("elmo", [None, BOTH], ids=["none", "both"])
@pytest.mark.parametrize("task", TASKS)
def test_a_batch_equals_its_instances(task: str, elmo: dict[str, Any] | None, tmp_path: Path) -> None:
    model = build(task, tmp_path, elmo)
    singles = [model.forward_on_instances([one])[0] for one in corpus(task)]
    assert_close(sanitize(singles), sanitize(model.forward_on_instances(corpus(task))))
    losses = [model(**tensors(model.vocab, [one]))["loss"].item() for one in corpus(task)]
    expected = sum(losses) / (1 if task in SUMMED else len(losses))
    assert model(**tensors(model.vocab, corpus(task)))["loss"].item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("elmo", "count"), [(None, 0), ({"at": "input"}, 2), (BOTH, 4)], ids=["none", "input", "both"])
@pytest.mark.parametrize("task", TASKS)
def test_all_parameters_get_gradients(task: str, elmo: dict[str, Any] | None, count: int, tmp_path: Path) -> None:
    model = build(task, tmp_path, elmo)
    if task == "sst":
        model.pool.score.bias.requires_grad_(False)  # a softmax cancels it
    passes = 5 if task == "coref" else 1
    check_gradients(model, tensors(model.vocab, corpus(task)), count=PARAMETERS[task] + count, passes=passes)


@pytest.mark.parametrize("task", TASKS)
def test_null_elmo_is_the_baseline(task: str, tmp_path: Path) -> None:
    check_null_elmo(lambda **keys: build(task, tmp_path, **keys), lambda vocab: tensors(vocab, corpus(task)))


@pytest.mark.parametrize("task", TASKS)
def test_the_loss_includes_elmos_penalty(task: str, tmp_path: Path) -> None:
    def make(**keys: Any) -> Model:
        return build(task, tmp_path, **keys)

    check_penalty(make, lambda vocab: tensors(vocab, corpus(task)), place="input", tolerance=1e-2)


@pytest.mark.parametrize("task", TASKS)
def test_metrics_include_elmos_weights_at_the_end_of_a_pass(task: str, tmp_path: Path) -> None:
    model = build(task, tmp_path, {"at": "input"})
    model(**tensors(model.vocab, corpus(task)))
    assert not any(name.startswith("elmo") for name in model.get_metrics())
    learned = {f"elmo_input_{name}" for name in ("s0", "s1", "s2", "gamma")}
    assert learned <= set(model.get_metrics(reset=True))
    assert learned <= set(model.train().get_metrics(reset=True))


@pytest.mark.parametrize("task", TASKS)
def test_outputs_without_gold_answers(task: str, tmp_path: Path) -> None:
    model = build(task, tmp_path)
    batch = tensors(model.vocab, corpus(task))
    for name in ("label", "tags", "span_start", "span_end"):
        batch.pop(name, None)
    for known in batch["metadata"] if task == "coref" else []:
        known["clusters"] = None
    output = model(**batch)
    assert "loss" not in output and model.make_output_human_readable(output)
    with pytest.raises(InputError, match="training needs gold answers"):
        model.train()(**batch)


@pytest.mark.parametrize("task", TASKS)
def test_unknown_keys_are_rejected(task: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no key word_vector"):
        build(task, tmp_path, word_vector=False)
    with pytest.raises(InputError, match=r"input_dropout .*1\.5"):
        build(task, tmp_path, input_dropout=1.5)
    assert Model.by_name(f"elmo_tasks_{task}").default_predictor == f"elmo_tasks_{task}"


@pytest.mark.parametrize("task", [task for task in TASKS if task not in SUMMED])
def test_answer_of_score_is_forward(task: str, tmp_path: Path) -> None:
    model = build(task, tmp_path)
    assert isinstance(model, SoftmaxModel)
    batch = tensors(model.vocab, corpus(task))
    output, scores = model(**batch), model.score(**batch)
    answer = model.answer(scores, **batch)
    assert answer.keys() == output.keys() and torch.equal(answer["loss"], output["loss"])
    forced = {name: scores.flip(-1) if name.endswith("logits") else scores for name, scores in scores.items()}
    assert not torch.equal(model.answer(forced, **batch)["loss"], output["loss"])


def test_dropout_is_variational_except_in_coreference(tmp_path: Path) -> None:
    for task in TASKS:
        layers = build(task, tmp_path, input_dropout=0.5).lowest_layers
        assert (type(layers.input_dropout) is nn.Dropout) == (task == "coref") and layers.input_dropout.p == 0.5
    layers = build("coref", tmp_path, variational_dropout=True).lowest_layers
    assert type(layers.input_dropout) is not nn.Dropout
