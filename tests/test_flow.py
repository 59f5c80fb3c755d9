"""Training, evaluation and prediction with the command line."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.models.archival import load_archive

from elmo_tasks.cli.main import run as run_command
from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.resources import DATA_VARIABLE
from elmo_tasks.web.loaded import LoadedModel
from elmo_tasks.web.server import archive_files
from tests.killing import SMALL_NER
from tests.pretraining import toy
from tests.tiny import FIXTURES, heard

SMALLER = SMALL_NER | {"trainer.num_epochs": 3, "trainer.optimizer.lr": 0.05}


def elmo_tasks(*arguments: object) -> None:
    with toy.own_terminal():
        run_command(list(map(str, arguments)))


@pytest.fixture(scope="module")
def run(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of `ner_elmo` at scale mini on the tiny data root."""
    folder = tmp_path_factory.mktemp("runs") / "ner_elmo"
    config = root / "training_config" / "ner_elmo.jsonnet"
    elmo_tasks("train", config, "-s", folder, "-o", json.dumps(SMALLER))
    return folder


def scores(run: Path, file: Path, out: Path) -> dict[str, Any]:
    predictions = out.with_suffix(".jsonl")
    elmo_tasks(
        "evaluate",
        run / "model.tar.gz",
        file,
        "--output-file",
        out,
        "--predictions-output-file",
        predictions,
    )
    return dict(json.loads(out.read_text()))


def test_evaluation_gives_the_scores_of_training(
    run: Path, root: Path, tmp_path: Path
) -> None:
    trained = json.loads((run / "metrics.json").read_text())
    found = scores(run, root / "ner" / "eng.testa", tmp_path / "scores.json")
    for name in ("f1", "precision", "recall", "loss", "f1-PER"):
        assert found[name] == pytest.approx(
            trained[f"best_validation_{name}"], abs=1e-6
        ), name
    assert sum(found[f"elmo_input_s{layer}"] for layer in range(3)) == pytest.approx(
        1.0
    )


def test_folder_of_a_run_does_what_its_archive_does(
    run: Path, root: Path, tmp_path: Path
) -> None:
    assert (run / "vocabulary" / ".lock").exists(), "AllenNLP leaves it there"
    sentences, text = tmp_path / "in.jsonl", tmp_path / "in.txt"
    sentences.write_text('{"sentence": "Mira left Harrow ."}\n')
    text.write_text("Mira left Harrow .\n")
    found: dict[str, list[Any]] = {}
    for model in (run, run / "model.tar.gz"):
        evaluated, predicted = tmp_path / "scores.json", tmp_path / "out.jsonl"
        vectors = tmp_path / f"{model.name}.hdf5"
        data = root / "ner" / "eng.testa"
        elmo_tasks("evaluate", model, data, "--output-file", evaluated)
        elmo_tasks("predict", model, sentences, "--output-file", predicted)
        elmo_tasks("elmo", text, vectors, "--mix", model, "--model", root / "bilm")
        found[model.name] = [
            evaluated.read_text(),
            predicted.read_text(),
            ElmoVectors(vectors)[0].tolist(),
            LoadedModel(model).describe(),
        ]
    assert found[run.name] == found["model.tar.gz"]


def test_folder_of_which_a_part_is_left(run: Path, root: Path, tmp_path: Path) -> None:
    """
    A run that was stopped before it wrote the archive; a copy of the archive alone.
    """
    stopped, copied = tmp_path / "stopped", tmp_path / "copied"
    shutil.copytree(run, stopped)
    (stopped / "model.tar.gz").unlink()
    copied.mkdir()
    shutil.copy(run / "model.tar.gz", copied)
    data, expected = root / "ner" / "eng.testa", tmp_path / "expected.json"
    elmo_tasks("evaluate", run, data, "--output-file", expected)
    for folder in (stopped, copied):
        found = tmp_path / f"{folder.name}.json"
        elmo_tasks("evaluate", folder, data, "--output-file", found)
        assert found.read_text() == expected.read_text()
        (served,) = archive_files([f"ner={folder}"]).values()
        assert LoadedModel(served).task.name == "ner"


def test_archive_works_without_the_vectors_and_has_no_bilm(
    run: Path, root: Path, tmp_path: Path
) -> None:
    moved = shutil.copytree(root / "vectors", tmp_path / "vectors")
    shutil.rmtree(root / "vectors")
    model = load_archive(run / "model.tar.gz").model
    shutil.copytree(moved, root / "vectors")
    assert model.vocab.get_token_index("ferry") > 1, (
        "a word that is only in the vectors"
    )
    with tarfile.open(run / "model.tar.gz") as archive:
        names = {
            name for name in archive.getnames() if not name.startswith("vocabulary")
        }
        archive.extract("weights.th", tmp_path)
    assert names == {"config.json", "meta.json", "model.json", "weights.th"}
    stored = torch.load(tmp_path / "weights.th", weights_only=True)
    of_bilm = model.input_encoder.elmo.source.state_dict().values()
    assert of_bilm
    for name, value in stored.items():
        assert not any(
            value.shape == weight.shape and torch.equal(value, weight)
            for weight in of_bilm
        ), name
    trained = dict(model.named_parameters()) | dict(model.named_buffers())
    assert stored.keys() == trained.keys()


@pytest.mark.slow
def test_archive_of_scale_paper_finds_later_words_in_the_vectors(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(root))
    config = root / "training_config/paper/ner.jsonnet"
    folder, file = tmp_path / "run", root / "vectors/glove.6B.50d.txt"
    elmo_tasks(
        "train",
        config,
        "-s",
        folder,
        "-o",
        json.dumps(SMALLER | {"trainer.num_epochs": 1}),
    )
    text = tmp_path / "eng.testb"
    text.write_text(
        (FIXTURES / "ner" / "eng.bio").read_text()
        + "\nFerry NN I-NP O\nGulls NN I-NP O\n"
    )
    known = scores(folder, text, tmp_path / "known.json")
    moved = shutil.move(file, tmp_path / "moved.txt")
    with heard(caplog, "elmo_tasks.nn.word_lookup"):
        unknown = scores(folder, text, tmp_path / "unknown.json")
    assert known["loss"] != unknown["loss"]
    assert "words of the text count as unknown" in caplog.text
    key = "dataset_reader.lookup_files"
    elmo_tasks(
        "evaluate",
        folder / "model.tar.gz",
        text,
        "--output-file",
        tmp_path / "o",
        "-o",
        json.dumps({key: [str(moved)]}),
    )
    shutil.move(moved, file)
    assert json.loads((tmp_path / "o").read_text())["loss"] == known["loss"]
