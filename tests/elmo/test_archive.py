"""
Trained models find their biLM again: moved, changed, missing, or inside the archive.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model, load_archive
from allennlp.models.archival import archive_model
from torch import Tensor

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.training.folder import record_sources
from tests.elmo.samples import SENTENCES
from tests.tiny import ELMO_DIM, bilm_files

IDS = batch_to_ids(SENTENCES)
KEY = "model.text_field_embedder.token_embedders.e"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder while training, with a biLM under `bilm/`."""
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    bilm_files(Path("bilm"))
    return tmp_path / "home"


def config(**elmo: Any) -> dict[str, Any]:
    embedder = {"type": "elmo_tasks", **paths("bilm"), **elmo}
    return {
        "dataset_reader": {
            "type": "sequence_tagging",
            "token_indexers": {"e": {"type": "elmo_tasks_characters"}},
        },
        "model": {
            "type": "simple_tagger",
            "text_field_embedder": {"token_embedders": {"e": embedder}},
            "encoder": {"type": "pass_through", "input_dim": ELMO_DIM},
        },
    }


def paths(bilm: str, prefix: str = "") -> dict[str, str]:
    return {
        f"{prefix}options_file": f"{bilm}/options.json",
        f"{prefix}weight_file": f"{bilm}/weights.hdf5",
    }


def trained(run: Path, **elmo: Any) -> tuple[Path, Tensor]:
    """
    An archive as AllenNLP leaves it, without the training, and the vectors that its
    model gives.
    """
    run.mkdir()
    (run / "config.json").write_text(json.dumps(config(**elmo)))
    vocab = Vocabulary()
    vocab.add_token_to_namespace("A", "labels")
    vocab.save_to_files(run / "vocabulary")
    model = Model.from_params(
        Params(config(**elmo)["model"]), vocab=vocab, serialization_dir=str(run)
    ).eval()
    embedder_of(model).input_mix.weights.data = torch.tensor([0.5, -1.0, 2.0])
    torch.save(model.state_dict(), run / "best.th")
    return Path(archive_model(run)), vectors(model)


def embedder_of(model: Model) -> ElmoTokenEmbedder:
    return model.text_field_embedder.token_embedder_e


def vectors(model: Model) -> Tensor:
    return embedder_of(model)(IDS).detach()


def load(archive: Path, overrides: dict[str, Any] | None = None) -> Model:
    return load_archive(str(archive), overrides=overrides or "").model.eval()


def test_an_archive_with_relative_paths_loads_from_another_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, expected = trained(folder / "run")
    monkeypatch.chdir(tmp_path)
    model = load(archive)
    assert torch.equal(vectors(model), expected)
    assert embedder_of(model).files.weight_file.path == str(
        folder / "bilm" / "weights.hdf5"
    )
    bilm_files(tmp_path / "bilm", seed=8)
    assert torch.equal(vectors(load(archive)), expected)


def test_a_moved_bilm_is_found_by_what_stands_beside_the_config(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    The weights, which are read after the model is constructed, are not needed for that.
    """
    _, expected = trained(folder / "run")
    vocab = Vocabulary.from_files(str(folder / "run/vocabulary"))
    model = load(folder / "run/model.tar.gz")
    record_sources(folder / "run", model)
    (folder / "run/best.th").write_bytes(b"damaged")
    monkeypatch.chdir(tmp_path)
    again = Model.from_params(
        Params(config()["model"]), vocab=vocab, serialization_dir=str(folder / "run")
    )
    embedder_of(again).load_state_dict(embedder_of(model).state_dict())
    assert torch.equal(vectors(again.eval()), expected)


@pytest.mark.parametrize("text", ["[", "{}", "[{}]", '[{"source": 3, "files": {}}]'])
def test_a_damaged_record_of_the_files_is_an_error(folder: Path, text: str) -> None:
    run = folder / "run"
    trained(run)
    (run / "sources.json").write_text(text)
    with pytest.raises(InputError, match="sources|state names no biLM|not JSON"):
        Model.from_params(
            Params(config()["model"]), vocab=Vocabulary(), serialization_dir=str(run)
        )


@pytest.mark.parametrize("archive", [False, True])
def test_another_bilm_by_override_is_rejected(folder: Path, archive: bool) -> None:
    path, _ = trained(folder / "run", archive=archive)
    bilm_files(folder / "other", seed=9)
    message = rf"(?s)another biLM:.*other/weights.hdf5.*{KEY}.weight_file to that biLM"
    with pytest.raises(InputError, match=message):
        load(path, paths("other", f"{KEY}."))


@pytest.mark.parametrize(
    "spoil", [shutil.rmtree, lambda bilm: bilm_files(bilm, projection_dim=8)]
)
def test_a_self_contained_archive_needs_no_files(
    folder: Path, spoil: Callable[[Path], object]
) -> None:
    archive, expected = trained(folder / "run", archive=True)
    spoil(folder / "bilm")
    model = load(archive)
    assert torch.equal(vectors(model), expected)
    torch.save(model.state_dict(), folder / "run" / "best.th")
    again = Path(archive_model(folder / "run", archive_path=folder / "again.tar.gz"))
    assert torch.equal(vectors(load(again)), expected)
