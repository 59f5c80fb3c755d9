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
from allennlp.commands import main
from allennlp.data import Vocabulary

from elmo_tasks.compat.terminal import one_line
from elmo_tasks.data.vectors import WordVectors
from elmo_tasks.errors import InputError
from tests.archives.make import STORED, config
from tests.elmo.samples import write_bilm
from tests.pretraining import toy
from tests.tiny import FIXTURES, ROOT

ARCHIVE = STORED / "1" / "sst.tar.gz"
CONFIG = str(ROOT / "training_config" / "sst.jsonnet")


def message(*arguments: object) -> str:
    """The error of a command."""
    with toy.own_terminal(*map(str, arguments)), pytest.raises(InputError) as raised:
        main(prog="allennlp")
    return str(raised.value)


@pytest.mark.parametrize("option", ["--output-file", "--predictions-output-file"])
@pytest.mark.parametrize("target", ["model.tar.gz", "second.txt"])
def test_evaluate_does_not_overwrite_its_input(option: str, target: str, tmp_path: Path) -> None:
    archive, *data = [tmp_path / name for name in ("model.tar.gz", "first.txt", "second.txt")]
    shutil.copy(ARCHIVE, archive)
    for file in data:
        shutil.copy(FIXTURES / "sst" / "trees.txt", file)
    before = (tmp_path / target).read_bytes()
    outputs = f"{tmp_path / 'out'},{tmp_path / target}"
    error = message("evaluate", archive, ",".join(map(str, data)), option, outputs)
    assert error.startswith(f"{tmp_path / target}: ")
    assert (tmp_path / target).read_bytes() == before


@pytest.mark.parametrize("overrides", ["[1]", "null"])
@pytest.mark.parametrize("command", ["train", "predict"])
def test_overrides_that_are_not_an_object(command: str, overrides: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("{}\n")
    given = {"train": (CONFIG, "-s", tmp_path / "run"), "predict": (ARCHIVE, tmp_path / "in")}[command]
    assert f"-o, got {overrides}" in message(command, *given, "-o", overrides)


def test_a_config_that_is_not_an_object(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("[1]")
    error = message("train", tmp_path / "config", "-s", tmp_path / "run", "-o", '{"seed": 1}')
    assert error.startswith(f"{tmp_path}/config: ") and error.endswith("got [1]")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("key", ["model.elmo", "model", "dataset_reader"])
def test_parts_of_an_archive_that_are_not_objects(key: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("{}\n")
    error = message("predict", ARCHIVE, tmp_path / "in", "-o", json.dumps({key: 5}))
    assert f"{key.rpartition('.')[2]}: expected an object, got 5" in error


@pytest.mark.parametrize("float16", [(), ("--float16",)])
def test_vectors_that_overflow(float16: tuple[str, ...], tmp_path: Path) -> None:
    options_file, weight_file = write_bilm(tmp_path)
    with h5py.File(weight_file, "r+") as weights:
        weights["CNN_proj/W_proj"][:] = 3e38
    (tmp_path / "in").write_text("\nThe harbour froze over .\n")
    files = ("--options-file", options_file, "--weight-file", weight_file)
    error = message("elmo", tmp_path / "in", tmp_path / "out", *files, *float16)
    assert error.startswith(f"{weight_file}: line 2: expected finite vectors, got infinity or NaN")
    assert not (tmp_path / "out").exists()


def test_windows_too_long_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("a\n")
    error = message("elmo", tmp_path / "in", tmp_path / "out", "--max-length", 10**20)
    assert error == f"max_length: expected a number from 1 to 2147483647, got {10**20}"


@pytest.mark.parametrize("name", ["", "pipe"])
def test_a_config_that_is_not_a_regular_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    assert "expected a configuration file, got " in message("train", name, "-s", tmp_path / "run")


def archive_with(folder: Path, name: str, content: bytes) -> Path:
    """A valid archive with one member replaced."""
    made = folder / "model.tar.gz"
    with tarfile.open(ARCHIVE) as sound, tarfile.open(made, "w:gz") as archive:
        for member in sound.getmembers():
            data = sound.extractfile(member)
            if member.name == name:
                member.size, data = len(content), io.BytesIO(content)
            archive.addfile(member, data)
    return made


@pytest.mark.parametrize("state", [[1], {1: torch.zeros(2)}, b"", b"PK\3\4"])
def test_weights_that_are_not_a_state_dict(state: object, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("{}\n")
    saved = io.BytesIO()
    torch.save(state, saved)
    content = state if isinstance(state, bytes) else saved.getvalue()
    assert "weights.th" in message("predict", archive_with(tmp_path, "weights.th", content), tmp_path / "in")


def test_incomplete_weights(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("{}\n")
    with tarfile.open(ARCHIVE) as archive:
        archive.extract("weights.th", tmp_path, filter="data")
    state = torch.load(tmp_path / "weights.th")
    lacking = next(name for name in state if name.endswith("bias"))
    del state[lacking]
    torch.save(state, tmp_path / "weights.th")
    error = message("predict", ARCHIVE, tmp_path / "in", "--weights-file", tmp_path / "weights.th")
    assert error.startswith(f"the weights do not fit the configuration: Missing keys: ['{lacking}']")


@pytest.mark.parametrize("version", [[1], 2, None])
def test_invalid_versions(version: object, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("{}\n")
    archive = archive_with(tmp_path, "meta.json", json.dumps({"version": version}).encode())
    error = message("predict", archive, tmp_path / "in")
    assert "meta.json" in error and repr(version) in error


@pytest.mark.parametrize("cache_dir", ["~nosuch/x", "x\0y"])
def test_invalid_cache_folders(cache_dir: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("{}\n")
    error = message("predict", ARCHIVE, tmp_path / "in", "-o", json.dumps({"model.elmo.cache_dir": cache_dir}))
    assert error.startswith(f"expected a folder for the layer cache, got {cache_dir!r}: ")
    assert message("cache", "stats", cache_dir) == error


@pytest.mark.parametrize("width", [10**15, 10**20])
def test_word_vectors_too_large_for_memory(width: int) -> None:
    vocab = Vocabulary(tokens_to_add={"tokens": ["word"]})
    with pytest.raises(InputError, match=r"fit in memory, got 4 vectors of 1[0,]+ numbers, [\d,.]+ GB"):
        WordVectors(embedding_dim=width, vocab=vocab)


def test_nan_loss(tmp_path: Path) -> None:
    training = config("sst", tmp_path / "bilm")
    training["trainer"] |= {"optimizer": {"type": "sgd", "lr": 1e15}}
    training["train_data_path"] = str(FIXTURES / "sst" / "trees.txt")
    (tmp_path / "config").write_text(json.dumps(training))
    arguments = ("train", str(tmp_path / "config"), "-s", str(tmp_path / "run"))
    with toy.own_terminal(*arguments), pytest.raises(ValueError, match="nan loss") as raised:
        main(prog="allennlp")
    line = one_line(raised.value)
    assert line is not None and line.startswith("the loss is NaN (lower the learning rate")
