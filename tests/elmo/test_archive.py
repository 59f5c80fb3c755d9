"""Trained models find their biLM again: moved, changed, missing, or inside the archive."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model, load_archive
from allennlp.models.archival import archive_model
from allennlp.nn.util import get_text_field_mask
from torch import Tensor, nn

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.bilm.weights import file_sha256
from elmo_tasks.elmo import ElmoTokenEmbedder
from elmo_tasks.elmo.sources import Source
from elmo_tasks.errors import InputError
from tests.elmo.samples import SENTENCES, write_bilm

IDS = batch_to_ids(SENTENCES)


@Model.register("tests_elmo_tagger")
class Tagger(Model):
    """Two tags from ELMo alone."""

    def __init__(self, vocab: Vocabulary, elmo: ElmoTokenEmbedder | None = None, **extras: Any) -> None:
        super().__init__(vocab, **extras)
        self.elmo = elmo
        self.head = nn.Linear(0 if elmo is None else elmo.get_output_dim(), 2)

    def forward(self, tokens: TextFieldTensors, tags: Tensor | None = None, **unused: Any) -> dict[str, Tensor]:
        vectors = self.elmo.input_vectors(self.elmo.layers(tokens["elmo"]["elmo_tokens"]))
        logits = self.head(vectors)  # [B, T, 2]
        if tags is None:
            return {"logits": logits}
        mask = get_text_field_mask(tokens)
        return {"loss": nn.functional.cross_entropy(logits[mask], tags[mask]) + self.elmo.penalty()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder while training, with a biLM under `bilm/`."""
    home = tmp_path / "home"
    (home / "bilm").mkdir(parents=True)
    write_bilm(home / "bilm")
    monkeypatch.chdir(home)
    return home


def config(**elmo: Any) -> dict[str, Any]:
    files = {"options_file": "bilm/options.json", "weight_file": "bilm/weights.hdf5"}
    indexers = {"elmo": {"type": "elmo_tasks_characters"}}
    return {
        "dataset_reader": {"type": "sequence_tagging", "token_indexers": indexers},
        "model": {"type": "tests_elmo_tagger", "elmo": {**files, **elmo}},
    }


def new_model(run: Path, settings: dict[str, Any]) -> Model:
    """The model of a config, and the folder of its run."""
    run.mkdir()
    (run / "config.json").write_text(json.dumps(settings))
    vocab = Vocabulary()
    vocab.add_token_to_namespace("A", "labels")
    vocab.save_to_files(run / "vocabulary")
    return Model.from_params(Params(settings["model"]), vocab=vocab, serialization_dir=str(run)).eval()


def archived(run: Path, model: Model) -> Path:
    """An archive as AllenNLP leaves it, without the training."""
    torch.save(model.state_dict(), run / "best.th")
    return Path(archive_model(run))


def trained(run: Path, **elmo: Any) -> tuple[Path, Tensor]:
    """An archive, and the vectors that its model gives."""
    model = new_model(run, config(**elmo))
    model.elmo.input_mix.weights.data = torch.tensor([0.5, -1.0, 2.0])
    return archived(run, model), vectors(model)


def vectors(model: Model) -> Tensor:
    return model.elmo.input_vectors(model.elmo.layers(IDS)).detach()


def load(archive: Path, overrides: dict[str, Any] | None = None) -> Model:
    return load_archive(str(archive), overrides=overrides or "").model.eval()


def test_checkpoints_and_archives_do_not_contain_the_bilm(folder: Path) -> None:
    (folder / "train.tsv").write_text("the###A boat###B\nsails###A\n")
    settings = {
        **config(l2=0.1, dropout=0.1),
        "train_data_path": "train.tsv",
        "data_loader": {"batch_size": 2},
        "trainer": {"optimizer": "adam", "num_epochs": 1, "cuda_device": -1},
    }
    model = train_model(Params(settings), folder / "run")
    bilm_size = (folder / "bilm" / "weights.hdf5").stat().st_size
    (trainer_state,) = (folder / "run").glob("training_state*.th")
    optimizer = torch.load(trainer_state, weights_only=False)["optimizer"]
    assert len(optimizer["state"]) == 4
    assert (folder / "run" / "best.th").stat().st_size < bilm_size / 2
    saved = torch.load(folder / "run" / "best.th")
    assert {name for name in saved if "elmo" in name} == {
        "elmo._extra_state",
        "elmo.input_mix.gamma",
        "elmo.input_mix.weights",
    }
    assert torch.equal(vectors(load(folder / "run" / "model.tar.gz")), vectors(model.eval()))


def test_an_archive_with_relative_paths_loads_from_another_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, expected = trained(folder / "run")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    model = load(archive)
    assert torch.equal(vectors(model), expected)
    assert model.elmo.source.weight_file.path == str(folder / "bilm" / "weights.hdf5")
    (elsewhere / "bilm").mkdir()
    write_bilm(elsewhere / "bilm", seed=8)
    assert torch.equal(vectors(load(archive)), expected)


def test_a_moved_bilm_is_given_by_an_override(folder: Path) -> None:
    archive, expected = trained(folder / "run")
    shutil.move(folder / "bilm", folder / "moved")
    moved = {f"model.elmo.{key}": f"moved/{name}" for key, name in NAMES.items()}
    model = load(archive, moved)
    assert torch.equal(vectors(model), expected)
    assert model.elmo.source.options_file.path == str(folder / "moved" / "options.json")


NAMES = {"options_file": "options.json", "weight_file": "weights.hdf5"}


def tagger_archive(run: Path) -> Path:
    """A model of AllenNLP, which has the biLM elsewhere than under `model.elmo`."""
    settings = config()
    embedders = {"token_embedders": {"e": {"type": "elmo_tasks", **settings["model"].pop("elmo")}}}
    encoder = {"type": "lstm", "input_size": 12, "hidden_size": 3}
    settings["model"] = {"type": "simple_tagger", "text_field_embedder": embedders, "encoder": encoder}
    return archived(run, new_model(run, settings))


def test_hints_name_the_keys_of_the_config(folder: Path) -> None:
    archive = tagger_archive(folder / "run")
    (folder / "bilm" / "weights.hdf5").rename(folder / "moved.hdf5")
    with pytest.raises(InputError, match=r"pass its new path: -o '{.*}'\)$") as error:
        load(archive)
    advice = re.search(r"-o '(.*)'", str(error.value))
    assert advice is not None and load(archive, json.loads(advice[1].replace("PATH", "moved.hdf5")))


KEY = "model.text_field_embedder.token_embedders.e."


def test_a_bilm_of_another_width_is_rejected(folder: Path) -> None:
    """Though the model cannot even be built with it."""
    archive = tagger_archive(folder / "run")
    (folder / "other").mkdir()
    write_bilm(folder / "other", projection_dim=8)
    message = (
        rf"(?s)trained on another biLM:.*got sha256 \w+ \(\S+other/options.json\).*\(set {KEY}options_file and"
        rf" {KEY}weight_file to that biLM's files; the vectors of this one have 16 numbers\)$"
    )
    with pytest.raises(InputError, match=message):
        load(archive, {f"{KEY}{key}": f"other/{name}" for key, name in NAMES.items()})


def test_a_missing_or_changed_bilm_is_named_with_its_sha256(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, _ = trained(folder / "run")
    weights = folder / "bilm" / "weights.hdf5"
    expected = file_sha256(weights)
    write_bilm(folder / "bilm", seed=9)
    with pytest.raises(InputError, match="another biLM:\n  the biLM's weights: expected .*") as error:
        load(archive)
    assert str(error.value).count("sha256") == 2 and expected in str(error.value)
    monkeypatch.chdir(tmp_path)
    missing = f"bilm/weights.hdf5: no such file: .* sha256 {expected}"
    with pytest.raises(InputError, match=rf"{missing}\); {weights} has changed since, its sha256 is \w+ \(restore it"):
        load(archive)
    weights.unlink()
    with pytest.raises(InputError, match=rf"{missing}\) \(restore it"):
        load(archive)


@pytest.mark.parametrize("archive", [False, True])
def test_another_bilm_by_override_is_rejected(folder: Path, archive: bool) -> None:
    path, _ = trained(folder / "run", archive=archive)
    (folder / "other").mkdir()
    write_bilm(folder / "other", seed=9, cell_clip=1.0)
    other = {f"model.elmo.{key}": f"other/{name}" for key, name in NAMES.items()}
    with pytest.raises(InputError, match="(?s)trained on another biLM:.*the biLM's options.*the biLM's weights"):
        load(path, other)


def remove(bilm: Path) -> None:
    shutil.rmtree(bilm)


def retrain(bilm: Path) -> None:
    """Even of another size, so that nothing of the model would fit."""
    write_bilm(bilm, seed=9, projection_dim=8)


@pytest.mark.parametrize("spoil", [remove, retrain])
def test_a_self_contained_archive_needs_no_files(folder: Path, spoil: Callable[[Path], None]) -> None:
    archive, expected = trained(folder / "run", archive=True)
    spoil(folder / "bilm")
    model = load(archive)
    assert torch.equal(vectors(model), expected)
    assert len(model.state_dict()["elmo._extra_state"]) > 20_000
    torch.save(model.state_dict(), folder / "run" / "best.th")
    again = Path(archive_model(folder / "run", archive_path=folder / "again.tar.gz"))
    assert torch.equal(vectors(load(again)), expected)


def test_two_embedders_in_one_state(folder: Path, tmp_path: Path) -> None:
    (folder / "second").mkdir()
    write_bilm(folder / "second", seed=9)
    pairs = [{key: f"{place}/{name}" for key, name in NAMES.items()} for place in ("bilm", "second")]
    both = nn.ModuleList(ElmoTokenEmbedder(**pair, archive=True) for pair in pairs)
    torch.save(both.state_dict(), tmp_path / "weights.th")
    expected = [embedder(IDS) for embedder in both]
    shutil.rmtree(folder / "bilm")
    shutil.rmtree(folder / "second")
    for pair, vector in zip(pairs, expected, strict=True):
        found = ElmoTokenEmbedder(**pair, archive=True, serialization_dir=str(tmp_path))
        assert torch.equal(found(IDS), vector)


def test_the_state_of_another_module_is_rejected(folder: Path) -> None:
    elmo = ElmoTokenEmbedder(**config()["model"]["elmo"])
    with pytest.raises(InputError, match="state names no biLM"):
        elmo.load_state_dict({**elmo.state_dict(), "_extra_state": torch.zeros(3, dtype=torch.uint8)})


def test_the_contents_of_the_state(folder: Path) -> None:
    elmo = ElmoTokenEmbedder(**config()["model"]["elmo"], archive=True)
    source = Source.from_state(elmo.state_dict()["_extra_state"])
    weights = folder / "bilm" / "weights.hdf5"
    assert source.weight_file.given == "bilm/weights.hdf5"
    assert source.weight_file.path == str(weights)
    assert source.weight_file.sha256 == file_sha256(weights)
    assert source.contents is not None
    assert source.contents[1].numpy().tobytes() == weights.read_bytes()
    assert source.contents[0].numpy().tobytes() == (folder / "bilm" / "options.json").read_bytes()
