"""Bad options, configs and files: one clear error, and nothing written."""

import io
import json
import os
import shutil
import tarfile
from pathlib import Path

import h5py
import pytest
import torch

from elmo_tasks.errors import InputError, one_line
from tests.archives.make import STORED, config
from tests.elmo.samples import write_bilm
from tests.test_flow import elmo_tasks
from tests.tiny import FIXTURES, ROOT

ARCHIVE = STORED / "1" / "sst.tar.gz"
SRL = (STORED / "1" / "srl.tar.gz", "-o", '{"evaluation": {"type": "elmo_tasks_srl"}}')
CONFIG = str(ROOT / "training_config" / "sst.jsonnet")


def message(*arguments: object) -> str:
    """The error of a command."""
    with pytest.raises(InputError) as raised:
        elmo_tasks(*arguments)
    return str(raised.value)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    (tmp_path / "in").write_text("{}\n")
    return tmp_path / "in"


@pytest.mark.parametrize(
    ("option", "output", "target"),
    [("--output-file", "model.tar.gz", "model.tar.gz"), ("--predictions-output-file", "data", "data.gold")],
)
def test_evaluate_does_not_overwrite_its_input(option: str, output: str, target: str, tmp_path: Path) -> None:
    archive, data = tmp_path / "model.tar.gz", tmp_path / "data.gold"
    shutil.copy(SRL[0], archive)
    shutil.copy(FIXTURES / "srl" / "tale.v4_gold_conll", data)
    before = (tmp_path / target).read_bytes()
    assert message("evaluate", archive, data, *SRL[1:], option, tmp_path / output).startswith(f"{tmp_path / target}: ")
    assert (tmp_path / target).read_bytes() == before


def test_evaluate_writes_both_files_of_the_official_scorer(tmp_path: Path) -> None:
    data, out = FIXTURES / "srl" / "tale.v4_gold_conll", tmp_path / "out" / "found"
    elmo_tasks("evaluate", SRL[0], data, *SRL[1:], "--predictions-output-file", out)
    assert sorted(path.name for path in out.parent.iterdir()) == ["found", "found.gold"]


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ('{"model.elmo": 5}', "elmo: expected an object, got 5"),
        ('{"model.elmo.cache_dir": "~nosuch/x"}', "expected a folder for the layer cache, got '~nosuch/x': "),
        ('{"model.elmo.cache_dir": "x\\u0000y"}', r"expected a folder for the layer cache, got 'x\x00y': "),
    ],
)
def test_invalid_overrides(overrides: str, expected: str, given: Path) -> None:
    assert expected in message("predict", ARCHIVE, given, "-o", overrides)


def test_invalid_configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list").write_text("[1]")
    os.mkfifo("pipe")
    for name, expected in (("list", "got [1]"), ("", "expected a configuration file, got"), ("pipe", "got a")):
        assert expected in message("train", name, "-s", tmp_path / "run")
    assert "-o, got null" in message("train", CONFIG, "-s", tmp_path / "run", "-o", "null")
    assert not (tmp_path / "run").exists()


def test_vectors_that_overflow(given: Path, tmp_path: Path) -> None:
    options_file, weight_file = write_bilm(tmp_path)
    with h5py.File(weight_file, "r+") as weights:
        weights["CNN_proj/W_proj"][:] = 3e38
    given.write_text("\nThe harbour froze over .\n")
    error = message("elmo", given, tmp_path / "out", "--options-file", options_file, "--weight-file", weight_file)
    assert error.startswith(f"{weight_file}: line 2: expected finite vectors, got infinity or NaN")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("state", [[1], {1: torch.zeros(2)}, b"PK\3\4"])
def test_invalid_weights(state: object, given: Path) -> None:
    saved = io.BytesIO()
    torch.save(state, saved)
    content = state if isinstance(state, bytes) else saved.getvalue()
    made = given.parent / "model.tar.gz"
    with tarfile.open(ARCHIVE) as sound, tarfile.open(made, "w:gz") as archive:
        for member in sound.getmembers():
            data = sound.extractfile(member)
            if member.name == "weights.th":
                member.size, data = len(content), io.BytesIO(content)
            archive.addfile(member, data)
    assert "weights.th" in message("predict", made, given)


def test_nan_loss(tmp_path: Path) -> None:
    training = config("sst", tmp_path / "bilm")
    training["trainer"] |= {"optimizer": {"type": "sgd", "lr": 1e15}}
    training["train_data_path"] = str(FIXTURES / "sst" / "trees.txt")
    (tmp_path / "config").write_text(json.dumps(training))
    with pytest.raises(ValueError, match="nan loss") as raised:
        elmo_tasks("train", tmp_path / "config", "-s", tmp_path / "run")
    assert (one_line(raised.value) or "").startswith("the loss is NaN (lower the learning rate")
