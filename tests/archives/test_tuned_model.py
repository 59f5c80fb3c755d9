"""
A training that begins with a trained model, and new words, characters and labels.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.models.archival import Archive

from elmo_tasks.errors import InputError
from elmo_tasks.training.archives.contents import unpacked
from elmo_tasks.training.archives.loading import load_archive, score
from elmo_tasks.training.run import train
from tests.archives.make import config
from tests.killing import Place, Training, differences
from tests.tiny import heard, write_vectors

FIRST = "Mira B-PER\nsold O\nferries O\n\nOakes B-PER\nsold O\nMira B-PER\n"
NEW = "mira O\nQuist B-PER\nzold O\nferry O\n\nŻuk B-PER\nsold O\nboats O\n"
OTHER_LABELS = NEW.replace("ferry O", "ferry B-SHIP")
WORDS = ["Mira", "sold", "ferry", "boats", "Żuk", "Madrid"]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on `FIRST`."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "data.txt").write_text(FIRST)
    given = ner_config(folder / "data.txt", folder / "bilm")
    (vectors,) = given["dataset_reader"]["lookup_files"]
    words = given["model"]["text_field_embedder"]["token_embedders"]["tokens"]
    words |= {"pretrained_file": vectors, "lookup_file": vectors}
    train(Params(given), folder / "run")
    return folder / "run"


def ner_config(data: Path, bilm: Path) -> dict[str, Any]:
    given = config("ner", bilm)
    given["train_data_path"] = given["validation_data_path"] = str(data)
    vectors = write_vectors(data.parent / "vectors.txt", WORDS, width=3)
    given["dataset_reader"] |= {"tag": 1, "lookup_files": [str(vectors)]}
    given["trainer"]["num_epochs"] = 2
    return given


def tuning(first: Path, data: Path, vocabulary: Any) -> dict[str, Any]:
    given = ner_config(data, data.parent / "bilm")
    given["model"] = {"type": "from_archive", "archive_file": str(first)}
    if vocabulary is not None:
        given["vocabulary"] = vocabulary
    return given


def words_of(archive: Archive) -> Any:
    embedder = archive.model.input_encoder.embedder
    return embedder._token_embedders["tokens"]


def vector_of(archive: Archive, word: str) -> torch.Tensor:
    return words_of(archive)._row(archive.model.vocab.get_token_index(word))


VOCABULARIES = {
    "extend": {"type": "extend", "directory": "FIRST/vocabulary"},
    "from_files": {"type": "from_files", "directory": "FIRST/vocabulary"},
    "of the new data": None,
}


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_model_is_tuned(name: str, first: Path, tmp_path: Path) -> None:
    """Its archive does not need the first one, whatever the vocabulary is made from."""
    shutil.copytree(first, tmp_path / "first")
    (tmp_path / "data.txt").write_text(NEW)
    text = json.dumps(VOCABULARIES[name]).replace("FIRST", str(tmp_path / "first"))
    given = tuning(tmp_path / "first", tmp_path / "data.txt", json.loads(text))
    train(Params(given), tmp_path / "run")
    shutil.rmtree(tmp_path / "first")
    archive = load_archive(tmp_path / "run" / "model.tar.gz")
    known = archive.model.vocab.get_token_to_index_vocabulary("tokens")
    before = load_archive(first).model.vocab.get_token_to_index_vocabulary("tokens")
    assert list(known)[: len(before)] == list(before)
    new = {"mira", "Quist", "zold", "ferry", "Żuk", "boats"}
    assert set(known) - set(before) == (set() if name == "from_files" else new)
    assert archive.config["model"]["type"] == "elmo_tasks_ner"
    scores = json.loads((tmp_path / "run" / "metrics.json").read_text())
    found = score(archive, tmp_path / "data.txt")
    assert found["loss"] == pytest.approx(scores["best_validation_loss"], rel=1e-5)


@pytest.fixture(scope="module")
def tuned(first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on `NEW` that began with `first`."""
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "data.txt").write_text(NEW)
    given = tuning(first / "model.tar.gz", folder / "data.txt", None)
    train(Params(given), folder / "run")
    return folder / "run"


def test_new_words_get_vectors_of_their_own(first: Path) -> None:
    archive = load_archive(first)
    file = load_vectors(first.parent / "vectors.txt")
    old = words_of(archive).weight.detach().clone()
    known = archive.model.vocab.get_token_to_index_vocabulary("tokens").copy()
    for word in ("Żuk", "MIRA", "SOLD", "Ferry", "zold"):
        archive.model.vocab.add_token_to_namespace(word)
    archive.model.extend_embedder_vocab()
    assert words_of(archive).weight.requires_grad
    expected = {
        "Mira": old[known["Mira"]],
        "Żuk": file["Żuk"],  # in the file
        "SOLD": old[known["sold"]],  # in the vocabulary in lower case
        "Ferry": file["ferry"],  # in the file in lower case
        "MIRA": old[1],
        "zold": old[1],
    }
    for word, vector in expected.items():
        assert torch.equal(vector_of(archive, word), vector), word


def load_vectors(file: Path) -> dict[str, torch.Tensor]:
    vectors = {}
    for line in file.read_text().splitlines():
        word, *numbers = line.split(" ")
        vectors[word] = torch.tensor([float(number) for number in numbers])
    return vectors


def test_vectors_of_new_words_are_trained(first: Path, tuned: Path) -> None:
    archive = load_archive(tuned)
    file = load_vectors(first.parent / "vectors.txt")
    for word in ("Żuk", "boats"):
        difference = (vector_of(archive, word) - file[word]).abs().max()
        assert 0 < difference < 0.1, word
    distinct = {tuple(vector_of(archive, word).tolist()) for word in ("zold", "Quist")}
    assert len(distinct) == 2


def test_new_labels_are_said(
    first: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "data.txt").write_text(OTHER_LABELS)
    given = tuning(first, tmp_path / "data.txt", None)
    message = "labels that the trained model does not have: U-SHIP"
    with pytest.raises(InputError, match=message):
        train(Params(given), tmp_path / "run")
    directory = str(first / "vocabulary")
    given["vocabulary"] = {"type": "from_files", "directory": directory}
    with heard(caplog, "elmo_tasks.tasks.tagger"):
        train(Params(given), tmp_path / "other")
    assert "does not know are misses, without a loss: U-SHIP" in caplog.text


def test_an_archive_of_allennlp_opens_the_first(tuned: Path, tmp_path: Path) -> None:
    """AllenNLP's own program archives the config as it is."""
    with unpacked(tuned / "model.tar.gz") as folder:
        shutil.copytree(folder, tmp_path / "made")
    stored = json.loads((tuned / "config.json").read_text())
    stored["model"].pop("model")
    (tmp_path / "made" / "config.json").write_text(json.dumps(stored))
    data = tuned.parent / "data.txt"
    found = score(load_archive(tmp_path / "made"), data)
    assert found == score(load_archive(tuned), data)


def test_the_first_archive_names_code(first: Path, tmp_path: Path) -> None:
    with unpacked(first) as folder:
        shutil.copytree(folder, tmp_path / "first")
    hostile = json.loads((tmp_path / "first" / "config.json").read_text())
    hostile["model"]["encoder"] = {"type": "subprocess.Popen", "args": "true"}
    (tmp_path / "first" / "config.json").write_text(json.dumps(hostile))
    (tmp_path / "data.txt").write_text(NEW)
    given = tuning(tmp_path / "first", tmp_path / "data.txt", None)
    with pytest.raises(InputError, match="names code to run: 'subprocess.Popen'"):
        train(Params(given), tmp_path / "run")


@pytest.mark.slow
def test_a_tuning_that_was_killed_is_resumed(first: Path, tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text(NEW)
    given = tuning(first, tmp_path / "data.txt", None)
    given["trainer"]["num_epochs"] = 4
    (tmp_path / "training_config").mkdir()
    (tmp_path / "training_config" / "tuned.jsonnet").write_text(json.dumps(given))
    training = Training("tuned", tmp_path, {})
    assert training.run(tmp_path / "whole") == 0
    step = Place("elmo_tasks.training.trainer:ResumableTrainer.batch_outputs", 5)
    assert training.run(tmp_path / "killed", killed_at=step) != 0
    assert list((tmp_path / "killed").glob("model_state_*"))
    assert training.run(tmp_path / "killed") == 0
    assert differences(tmp_path / "killed", tmp_path / "whole") == []
