"""Whole checks: our configs have nothing wrong, each config under `broken/` exactly what it announces."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import DatasetReader, TokenIndexer
from allennlp.data.dataset_readers import Conll2003DatasetReader

from elmo_tasks import settings
from elmo_tasks.checks.config import check_config
from tests.test_configs import CONFIGS, FOLDER
from tests.tiny import write_data_root

BROKEN = sorted((Path(__file__).parent / "broken").glob("*.jsonnet"))
EXPECTED = "// expected: "


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files under the official names; no folder of it is named for tests."""
    root = write_data_root(tmp_path_factory.mktemp("data"))
    (root / "ner" / "eng.testb").write_text("Ann NN I-NP I-PER\nsails NN I-VP O\n\n")
    return root


@pytest.fixture(autouse=True)
def mini(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setenv(settings.SCALE_VARIABLE, "mini")
    monkeypatch.setenv(settings.DATA_VARIABLE, str(root))
    monkeypatch.setenv(settings.FIXTURES_VARIABLE, str(root))


@pytest.mark.parametrize("name", CONFIGS)
def test_our_configs_have_nothing_wrong(name: str) -> None:
    report = check_config(FOLDER / f"{name}.jsonnet")
    assert [str(problem) for problem in report.problems] == []
    assert report.loss is not None and report.loss > 0


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_a_broken_config_has_the_problems_that_it_announces(file: Path, root: Path) -> None:
    lines = file.read_text().splitlines()
    expected = [line.removeprefix(EXPECTED).replace("$DATA", str(root)) for line in lines if line.startswith(EXPECTED)]
    found = [re.sub(r"known: .*", "known: $KNOBS", str(problem)) for problem in check_config(file).problems]
    assert found == expected and expected


def test_a_copy_of_the_test_file_is_the_test_file(root: Path) -> None:
    overrides = json.dumps({"validation_data_path": f"{root}/ner/eng.dev"})
    shutil.copy(root / "ner" / "eng.testb", root / "ner" / "eng.dev")
    (problem,) = check_config(FOLDER / "ner.jsonnet", overrides, build=False).problems
    assert problem.kind == "split" and str(root / "ner" / "eng.testb") in problem.found


@pytest.mark.parametrize(
    ("overrides", "path"),
    [
        ({"train_data_path": None}, "train_data_path"),
        ({"validation_data_path": [3]}, "validation_data_path"),
        ({"model.elmo.options_file": ""}, "model.elmo.options_file"),
    ],
)
def test_paths_that_are_none(overrides: dict[str, object], path: str) -> None:
    (problem,) = check_config(FOLDER / "ner_elmo.jsonnet", json.dumps(overrides), build=False).problems
    assert problem.path == path


NO_GPU = "-1 (the CPU), since this machine has no GPU"
ONE_GPU = "-1 (the CPU) or a GPU from 0 to 0"
SEVERAL = "a list of two devices at least, or num_nodes above 1"


@pytest.mark.parametrize(
    ("gpus", "overrides", "expected"),
    [
        (0, {"trainer.cuda_device": 0}, [f"trainer.cuda_device: wanted {NO_GPU}, found 0"]),
        (1, {"trainer.cuda_device": 2}, [f"trainer.cuda_device: wanted {ONE_GPU}, found 2"]),
        (0, {"trainer.cuda_device": [-1]}, [f"trainer.cuda_device: wanted {NO_GPU}, found [-1]"]),
        (0, {"distributed": {"cuda_devices": [-1, 1]}}, [f"distributed.cuda_devices.1: wanted {NO_GPU}, found 1"]),
        (0, {"distributed": {"cuda_devices": [-1]}}, [f"distributed.cuda_devices: wanted {SEVERAL}, found [-1]"]),
        (0, {"distributed": {"num_nodes": 2}}, ["distributed.cuda_devices: wanted a list of devices, found null"]),
        (0, {"distributed": {"cuda_devices": [-1, -1]}, "trainer.cuda_device": 0}, []),
        (0, {"distributed": {"cuda_devices": [-1], "num_nodes": 2}}, []),
        (0, {"trainer.cuda_device": None}, []),
    ],
)
def test_devices_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch, gpus: int, overrides: dict[str, object], expected: list[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    report = check_config(FOLDER / "ner.jsonnet", json.dumps(overrides), build=bool(expected))
    assert [str(problem) for problem in report.problems] == expected
    assert report.loss is not None or not expected, "the step is taken on the CPU"


def test_without_building_the_rest_is_told() -> None:
    overrides = json.dumps({"trainer.num_epoch": 3, "model.encoder.input_size": 5})
    report = check_config(FOLDER / "ner.jsonnet", overrides, build=False)
    assert [problem.path for problem in report.problems] == ["trainer.num_epoch"] and report.loss is None


def test_overrides_that_cannot_be_read() -> None:
    (problem,) = check_config(FOLDER / "ner.jsonnet", "{").problems
    assert problem.kind == "build" and "config that can be read" in str(problem)


@pytest.mark.parametrize(("text", "found"), [("[1]", "got [1]"), ("", "unexpected end of file"), ("{a: b}", "b")])
def test_files_that_are_no_config(text: str, found: str, tmp_path: Path) -> None:
    file = tmp_path / "config.jsonnet"
    file.write_text(text)
    (problem,) = check_config(file).problems
    assert str(problem).startswith("config: wanted ") and found in problem.found + str(problem)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for file in ("no/such.jsonnet", tmp_path):
        (problem,) = check_config(file).problems
        assert str(file) in problem.found


@DatasetReader.register("unannotated_conll2003")
class UnannotatedReader(Conll2003DatasetReader):
    """Its argument has no annotation, so that AllenNLP passes the dictionary of the config."""

    def __init__(self, token_indexers=None, **kwargs: Any) -> None:
        super().__init__(token_indexers=token_indexers, **kwargs)


@DatasetReader.register("string_conll2003")
class StringReader(Conll2003DatasetReader):
    """AllenNLP does not read an annotation that is a string."""

    def __init__(self, token_indexers: "dict[str, TokenIndexer] | None" = None, **kwargs: Any) -> None:
        super().__init__(token_indexers=token_indexers, **kwargs)


@pytest.mark.parametrize("cls", [UnannotatedReader, StringReader])
def test_an_argument_without_an_annotation_is_named(cls: type) -> None:
    name = next(name for name, (found, _) in DatasetReader._registry[DatasetReader].items() if found is cls)
    overrides = {"dataset_reader.type": name, "dataset_reader.token_indexers": {"tokens": {"type": "single_id"}}}
    (problem,) = check_config(BROKEN[0].parent / "tagger.libsonnet", json.dumps(overrides)).problems
    assert str(problem) == (
        "dataset_reader.token_indexers: wanted a type annotation (no string) for the argument token_indexers of "
        f"{cls.__name__}, since AllenNLP passes a plain dictionary without one, "
        "found AttributeError: 'dict' object has no attribute 'count_vocab_items'"
    )
