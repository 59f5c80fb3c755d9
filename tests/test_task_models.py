"""Properties of all task models: low precision, copies, errors for numbers that are not finite."""

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model, load_archive
from allennlp.nn.util import move_to_device
from allennlp.predictors import Predictor

from elmo_tasks.commands.predict import LinePredictions
from elmo_tasks.errors import InputError
from tests.archives.make import EXPECTED, STORED, TASKS
from tests.archives.test_stored import assert_close
from tests.models import make_model, tensors
from tests.tiny import FIXTURES

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")),
]
LOW = [torch.float16, torch.bfloat16]
BILM = {"options_file": str(FIXTURES / "bilm/options.json"), "weight_file": str(FIXTURES / "bilm/weights.hdf5")}
ELMO = {"none": None, "input": {**BILM, "at": "input"}, "both": {**BILM, "at": "both", "layer_norm": "sentence"}}


def reader(task: str) -> DatasetReader:
    return DatasetReader.from_params(Params({"type": f"elmo_tasks_{task}"}))


def corpus(task: str) -> list[Instance]:
    """New instances: those that are indexed give no labels to another vocabulary."""
    return list(reader(task).read(TASKS[task][1]))


def build(task: str, folder: Path, at: str = "none") -> Model:
    """A small model with random weights, in evaluation mode."""
    return make_model(TASKS[task][0], corpus(task), folder, ELMO[at])


def stored(task: str) -> Predictor:
    """A trained model with its own biLM at the input and the output."""
    return Predictor.from_archive(load_archive(STORED / "1" / f"{task}.tar.gz"))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", LOW, ids=str)
@pytest.mark.parametrize("at", ELMO)
@pytest.mark.parametrize("task", TASKS)
def test_trains_under_autocast(task: str, at: str, dtype: torch.dtype, device: str, tmp_path: Path) -> None:
    model = build(task, tmp_path, at).to(device)
    batch = move_to_device(tensors(model.vocab, corpus(task)), torch.device(device))
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.01)
    exact = model(**batch)["loss"].item()
    with torch.autocast(device, dtype=dtype):
        assert model(**batch)["loss"].item() == pytest.approx(exact, rel=0.01)
        assert all("loss" in output for output in model.forward_on_instances(corpus(task)[:1]))
        loss = model.train()(**batch)["loss"]
    loss.backward()
    optimizer.step()
    assert loss.isfinite()
    assert [name for name, p in model.named_parameters() if not p.isfinite().all()] == []


def prediction(predictor: Predictor, task: str) -> Any:
    """The prediction for a line of JSON."""
    return predictor.load_line(predictor.dump_line(predictor.predict_json(TASKS[task][2])))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", LOW, ids=str)
@pytest.mark.parametrize("task", TASKS)
def test_predicts_under_autocast(task: str, dtype: torch.dtype, device: str) -> None:
    predictor = stored(task)
    exact = prediction(predictor, task)
    predictor._model.to(device)
    with torch.autocast(device, dtype=dtype):
        assert_close(prediction(predictor, task), exact, atol=0.02, rtol=0.1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [*LOW, torch.float64], ids=str)
@pytest.mark.parametrize("task", TASKS)
def test_other_dtypes_of_weights(task: str, dtype: torch.dtype, device: str) -> None:
    predictor = stored(task)
    exact, model = prediction(predictor, task), predictor._model.to(device, dtype)
    assert_close(prediction(predictor, task), exact, atol=0.02, rtol=0.1)
    batch = move_to_device(tensors(model.vocab, corpus(task)), torch.device(device))
    loss = model.train()(**batch)["loss"]
    loss.backward()
    assert loss.isfinite() and loss.dtype == torch.promote_types(dtype, torch.float32)
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("task", TASKS)
def test_copies_predict_the_same(task: str, clone: Callable[[Model], Model]) -> None:
    predictor = stored(task)
    expected = prediction(predictor, task)
    predictor._model = clone(predictor._model)
    assert prediction(predictor, task) == expected


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("task", TASKS)
def test_scores_that_are_not_finite_are_an_error_for_each_line(task: str, value: float, tmp_path: Path) -> None:
    predictor = stored(task)
    for parameter in predictor._model.parameters():
        parameter.data.fill_(value)
    given, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text(f"{json.dumps(TASKS[task][2])}\n" * 2)
    with pytest.raises(InputError, match="2 of the lines could not be used"):
        LinePredictions(predictor, str(given), str(output), 2, False, False).run()
    first, second = map(json.loads, output.read_text().splitlines())
    message = "the model gives no finite numbers: expected finite scores, got NaN or infinity"
    assert (first["line"], second["line"]) == (1, 2) and message in first["error"]
    assert first["error"] == second["error"]
    model = predictor._model
    assert not model(**tensors(model.vocab, corpus(task)))["loss"].isfinite()


@pytest.fixture
def default_float64() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("task", TASKS)
def test_default_dtype_float64(task: str, default_float64: None) -> None:
    expected = json.loads((STORED / "1" / EXPECTED).read_text("utf-8"))[task]["output"]
    predictor = stored(task)
    assert {p.dtype for p in predictor._model.parameters()} == {torch.float64}
    assert_close(prediction(predictor, task), expected)
    model = predictor._model.train()
    loss = model(**tensors(model.vocab, corpus(task)))["loss"]
    loss.backward()
    assert loss.isfinite() and loss.dtype == torch.float64
