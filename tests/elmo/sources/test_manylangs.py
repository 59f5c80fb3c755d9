"""Models of ELMoForManyLangs: the layers of its package, and its files."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.sources.manylangs import open_manylangs
from elmo_tasks.errors import InputError
from tests.elmo.manylangs.make import CONFIGS, HERE, SENTENCES
from tests.elmo.samples import Code


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(HERE / "both", tmp_path / "both")
    return tmp_path / "both"


@pytest.mark.parametrize("name", CONFIGS)
def test_layers_are_those_of_the_package(name: str) -> None:
    elmo = Elmo.from_pretrained(HERE / name)
    for vectors in (
        elmo.embed(SENTENCES),
        pickle.loads(pickle.dumps(elmo)).embed(SENTENCES),
    ):
        for index, found in enumerate(vectors):
            assert np.allclose(
                found, np.load(HERE / "layers.npz")[f"{name}{index}"], atol=1e-5
            ), (name, index)


def test_the_published_configuration_needs_no_file(folder: Path) -> None:
    (folder / "sizes.json").unlink()
    (folder / "config.json").write_text(
        '{"config_path": "../configs/cnn_50_100_512_4096_sample.json"}'
    )
    with pytest.raises(
        InputError, match=r"token_embedder\.pkl: does not match .*512, 2148"
    ):
        open_manylangs(folder)


def test_invalid_files(folder: Path) -> None:
    valid = {file.name: file.read_bytes() for file in folder.iterdir()}
    config = json.loads(valid["sizes.json"])
    weights = torch.load(folder / "encoder.pkl", weights_only=True)
    gates = "forward_layer_0.state_linearity.bias"
    without_words = dict(config["token_embedder"])
    del without_words["word_dim"]

    def changed(**changes: Any) -> bytes:
        return json.dumps(
            {**config, "token_embedder": {**config["token_embedder"], **changes}}
        ).encode()

    for name, content, problem in (
        (
            "config.json",
            b"{}",
            "config.json: cannot read a configuration .*token_embedder",
        ),
        (
            "sizes.json",
            changed(n_highway=10**9),
            "sizes.json: .*n_highway: expected a number less than",
        ),
        (
            "sizes.json",
            json.dumps({**config, "token_embedder": without_words}).encode(),
            "sizes.json: cannot read a configuration .*word_dim",
        ),
        (
            "char.dic",
            valid["char.dic"] + b"x\ty\n",
            r"char.dic:\d+: expected an entry, a tab and its number",
        ),
        (
            "char.dic",
            valid["char.dic"].replace(b"<bow>", b"bow"),
            "char.dic: expected .*<bow>.* among its entries",
        ),
        (
            "char.dic",
            valid["char.dic"].replace(b">\t21", b">\t22"),
            "char.dic: expected .*numbers below their count",
        ),
        (
            "encoder.pkl",
            {**weights, "forward_layer_9.x": torch.ones(1)},
            "unused: forward_layer_9",
        ),
        (
            "encoder.pkl",
            {**weights, gates: torch.ones(6)},
            r"encoder.pkl: does not match the configuration: .*\b6\b",
        ),
        (
            "encoder.pkl",
            {**weights, gates: torch.ones(())},
            "encoder.pkl: does not match the configuration",
        ),
        (
            "encoder.pkl",
            {"a": Code(folder / "trace")},
            r"encoder.pkl: cannot read .* code, which is not run",
        ),
    ):
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            torch.save(content, folder / name)
        with pytest.raises(InputError, match=problem):
            open_manylangs(folder)
        (folder / name).write_bytes(valid[name])
    assert not (folder / "trace").exists()
    (folder / "word.dic").unlink()
    with pytest.raises(InputError, match=r"word\.dic: no such file"):
        open_manylangs(folder)


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("encoder", "name", "lstm"),
        ("token_embedder", "name", "lstm"),
        ("token_embedder", "char_dim", 0),
    ],
)
def test_other_architectures_are_rejected(
    folder: Path, part: str, key: str, value: Any
) -> None:
    """Those without characters need words: here a model that has neither."""
    file = folder / "sizes.json"
    config = json.loads(file.read_text())
    config["token_embedder"]["word_dim"] = 0
    config[part][key] = value
    file.write_text(json.dumps(config))
    with pytest.raises(InputError, match="expected the encoder elmo, and words or"):
        open_manylangs(folder)
