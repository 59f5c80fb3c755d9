"""Whole checks: our configs have nothing wrong, each config under `broken/` exactly what it announces."""

import json
import re
import shutil
from pathlib import Path

import pytest

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
    (root / "ner" / "eng.testb").write_text("A DT I-NP O\nship NN I-NP O\n\n")
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


def test_without_building_the_rest_is_told() -> None:
    overrides = json.dumps({"trainer.num_epoch": 3, "model.encoder.input_size": 5})
    report = check_config(FOLDER / "ner.jsonnet", overrides, build=False)
    assert [problem.path for problem in report.problems] == ["trainer.num_epoch"] and report.loss is None


def test_overrides_that_cannot_be_read() -> None:
    (problem,) = check_config(FOLDER / "ner.jsonnet", "{").problems
    assert problem.kind == "build" and "config that can be read" in str(problem)


@pytest.mark.parametrize(("text", "found"), [("[1]", "found [1]"), ("", "unexpected end of file"), ("{a: b}", "b")])
def test_files_that_are_no_config(text: str, found: str, tmp_path: Path) -> None:
    file = tmp_path / "config.jsonnet"
    file.write_text(text)
    (problem,) = check_config(file).problems
    assert str(problem).startswith("config: wanted ") and found in problem.found + str(problem)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for file in ("no/such.jsonnet", tmp_path):
        (problem,) = check_config(file).problems
        assert str(file) in problem.found
