"""Trained models find their model again: moved, changed, missing, or in the archive."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from elmo_tasks.elmo.layers import Layers, opened_models
from elmo_tasks.elmo.models.record import record_models
from elmo_tasks.elmo.sources.types import SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.resources import embedded_bilm
from tests.elmo.samples import SENTENCES, write_bilm
from tests.elmo.sources.transformer_samples import write_transformer


def bilm_in(folder: Path, seed: int = 3, **sizes: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_bilm(folder, seed, **sizes)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder while training, and that of a user's cache that is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def vectors(embedder: ElmoTokenEmbedder) -> Tensor:
    return embedder.frozen.of_words(SENTENCES).layers


def trained(run: Path, **settings: Any) -> Tensor:
    """Writes what a training notes of its model; the layers that it computes."""
    embedder = ElmoTokenEmbedder.open(**settings, run_folder=str(run))
    run.mkdir(parents=True)
    record_models(run, opened_models(embedder))
    return vectors(embedder)


def opened(run: Path, **settings: Any) -> ElmoTokenEmbedder:
    return ElmoTokenEmbedder.open(
        **settings, run_folder=str(run), config_path="model.elmo"
    )


def test_what_stands_beside_the_config(home: Path) -> None:
    bilm_in(home / "bilm")
    layers = Layers.open(SourceSettings(model="bilm"))
    assert layers.files is not None
    record_models(home, opened_models(layers))
    ((record,),) = [json.loads((home / "model.json").read_text())]
    assert record == {
        "kind": "bilm",
        "name": "bilm",
        "sha256": layers.files.sha256,
        "paths": {key: str(path) for key, path in layers.files.paths.items()},
    }


@pytest.mark.parametrize("archive", [False, True])
def test_a_trained_model_finds_its_model(
    archive: bool, home: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """
    From another folder, where the model's name means nothing, or something else; with
    `archive`, also without the model. So does a model that is trained on.
    """
    bilm_in(home / "model")
    expected = trained(home / "run", model="model", archive=archive)
    shutil.move(home / "run", tmp_path / "moved")
    if archive:
        shutil.rmtree(home / "model")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    keys = {"model": "model", "archive": archive}
    first = opened(tmp_path / "moved", **keys)
    assert torch.equal(vectors(first), expected)
    bilm_in(elsewhere / "model", seed=9)
    (tmp_path / "again").mkdir()
    record_models(tmp_path / "again", opened_models(first))
    for run in ("moved", "again"):
        assert torch.equal(vectors(opened(tmp_path / run, **keys)), expected)


def files_in(folder: str) -> dict[str, str]:
    return {
        "options_file": f"{folder}/options.json",
        "weight_file": f"{folder}/weights.hdf5",
    }


@pytest.mark.parametrize(
    "named", [{"model": "m"}, {"model": "m/options.json+m/weights.hdf5"}, files_in("m")]
)
def test_a_model_that_was_moved(named: dict[str, str], home: Path) -> None:
    """It is found at a path that is given, by its contents; nothing else is."""
    bilm_in(home / "m")
    expected = trained(home / "run", **named)
    shutil.move(home / "m", home / "moved")
    with pytest.raises(InputError) as error:
        opened(home / "run", **named)
    message = str(error.value)
    assert "on which this model was trained; its sha256 is" in message
    assert """-o '{"model.elmo.model": "PATH"}'""" in message and "\n" not in message
    for other in ({"model": "moved"}, files_in("moved")):
        assert torch.equal(vectors(opened(home / "run", **other)), expected)
    bilm_in(home / "other", seed=9)
    with pytest.raises(InputError) as error:
        opened(home / "run", model="other")
    message = str(error.value)
    assert "this model was trained on another biLM: expected sha256" in message
    assert str(home / "other/weights.hdf5") in message and "\n" not in message
    bilm_in(home / "m", seed=9)  # other contents at the old place
    with pytest.raises(InputError, match="this model was trained on another biLM"):
        opened(home / "run", **named)


def test_another_kind_of_model(home: Path) -> None:
    write_transformer(home / "bert", seed=3)
    expected = trained(home / "run", model="bert")
    bilm_in(home / "bilm")
    with pytest.raises(InputError, match="on another transformer: .*, got biLM "):
        opened(home / "run", model="bilm")
    (home / "bert/README.md").write_text("not read")
    assert torch.equal(vectors(opened(home / "run", model="bert")), expected)
    (home / "bert/special_tokens_map.json").write_text("{}")
    with pytest.raises(InputError, match="this model was trained on another transf"):
        opened(home / "run", model="bert")


def test_the_bundled_model_at_another_path(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As our configs name it, relative to the folder of a checkout that is gone."""
    for path in embedded_bilm():
        (home / "fixtures/bilm").mkdir(parents=True, exist_ok=True)
        shutil.copy(path, home / "fixtures/bilm")
    expected = trained(home / "run", **files_in("fixtures/bilm"))
    shutil.rmtree(home / "fixtures")
    monkeypatch.chdir(tmp_path)
    found = opened(home / "run", **files_in("fixtures/bilm"))
    assert torch.equal(vectors(found), expected)


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "{}",
        "[{}]",
        "[3]",
        '[{"kind": 3, "name": "a", "sha256": "b", "paths": {}}]',
        '[{"kind": "bilm", "name": "a", "sha256": "b", "paths": {"model": "c"}}]',
        '[{"kind": "other", "name": "a", "sha256": "b", "paths": {"model": 3}}]',
    ],
)
def test_a_damaged_record_is_an_error(home: Path, text: str) -> None:
    (home / "model.json").write_text(text)
    with pytest.raises(InputError, match=r"model\.json"):
        opened(home)


def test_a_bilm_of_19_megabytes_in_the_folder(home: Path) -> None:
    """More than its options may claim whatever the size of its weights."""
    bilm_in(home / "m", dim=1024, projection_dim=128)
    expected = trained(home / "run", model="m", archive=True)
    shutil.rmtree(home / "m")
    found = opened(home / "run", model="m", archive=True)
    assert torch.equal(vectors(found), expected)
