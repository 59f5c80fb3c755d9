"""Archives that are damaged, unsafe, or do not match the overrides."""

import io
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor
from huggingface_hub.utils import reset_sessions

from elmo_tasks.errors import InputError
from elmo_tasks.training.archives.contents import archived_config, unpacked
from elmo_tasks.training.archives.loading import load_archive
from elmo_tasks.training.checks.construct import check
from tests.fuzz.subjects import ARCHIVE as SOUND
from tests.fuzz.subjects import with_member
from tests.system import require_path
from tests.web_server import serving

DATA = SOUND.read_bytes()


def saved(state: object) -> bytes:
    file = io.BytesIO()
    torch.save(state, file)
    return file.getvalue()


def archive_with(config: Any, folder: Path) -> Path:
    """A sound archive with another config."""
    file = folder / "model.tar.gz"
    file.write_bytes(with_member("config.json", json.dumps(config).encode()))
    return file


def sound_config() -> dict[str, Any]:
    with unpacked(SOUND) as folder:
        return dict(json.loads((folder / "config.json").read_text()))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (b"", "the archive cannot be unpacked: "),
        (DATA[: len(DATA) * 99 // 100], "the archive cannot be unpacked: "),
        (("weights.th", None), "the archive lacks weights.th"),
        (("vocabulary", b""), "the archive lacks vocabulary"),
        (
            ("vocabulary/non_padded_namespaces.txt", None),
            "the archive lacks vocabulary/non_padded_namespaces.txt",
        ),
        (
            ("vocabulary/notes.txt", b"remember\n"),
            "no model can be built .* OOV token not found",
        ),
        (("meta.json", b"[]"), "no model can be built .* must be a mapping"),
        (
            ("weights.th", saved([1])),
            "the archive's weights.th is damaged: expected tensors by name, got list",
        ),
        (
            ("weights.th", saved({1: 2})),
            "the archive's weights.th is damaged: expected tensors by name",
        ),
        (
            ("weights.th", b"PK\3\4" + bytes(9999)),
            "the archive's weights.th is damaged: ",
        ),
        (
            ("weights.th", bytes(2**26 + 1)),
            "the file unpacks to more than 100 times its size",
        ),
    ],
)
def test_invalid_archive_is_not_unpacked(
    archive: Any, message: str, temporary: Path, tmp_path: Path
) -> None:
    (tmp_path / "model.tar.gz").write_bytes(
        archive if isinstance(archive, bytes) else with_member(*archive)
    )
    with pytest.raises(InputError, match=rf"model\.tar\.gz: {message}"):
        load_archive(tmp_path / "model.tar.gz")
    assert not list(temporary.iterdir()) and not (tmp_path / "escaped").exists()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"model.input_dropout": "x"},
            "InputEncoder: input_dropout: expected a valid number",
        ),
        (
            {"model.elmo.at": "input"},
            r"the weights do not fit .*: size mismatch for .* \(overrides .* ELMo",
        ),
    ],
)
def test_override_that_does_not_fit(overrides: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_archive(SOUND, overrides=json.dumps(overrides))


HOSTILE = {
    "pretrained": {
        "model": {
            "type": "elmo_tasks_ner",
            "encoder": {"_pretrained": {"archive_path": "x"}},
        }
    },
    "remote code": {
        "dataset_reader": {
            "type": "elmo_tasks_ner",
            "kwargs": {"trust_remote_code": True},
        }
    },
}


@pytest.mark.parametrize("name", HOSTILE)
def test_archive_that_names_code(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config.json names code to run, "):
        load_archive(archive_with(HOSTILE[name], tmp_path))
    found = check(HOSTILE[name]).problems
    assert [one for one in found if "_pretrained:" in one or "_code: exp" in one]


def test_prediction_writes_no_layer_cache(tmp_path: Path) -> None:
    config = sound_config()
    config["model"]["elmo"]["cache_dir"] = str(tmp_path / "layers")
    beside = {"model": {"embedders": [{"type": "elmo_tasks", "cache_dir": "x"}]}}
    assert "cache_dir" not in archived_config(json.dumps(beside).encode(), "x")
    file = archive_with(config, tmp_path)
    Predictor.from_archive(load_archive(file)).predict_json(
        {"sentence": "Brackwater lies there ."}
    )
    assert not (tmp_path / "layers").exists()


def test_evaluate_reads_the_data_that_it_is_given() -> None:
    config = {
        "validation_data_loader": {"data_path": "x", "num_workers": 99, "batch_size": 1}
    }
    kept = json.loads(archived_config(json.dumps(config).encode(), "x"))
    assert kept == {"validation_data_loader": {"batch_size": 1}}


@Model.register("asking")
class Asking(Model):
    """A model whose code asks for a permission, as `trust_remote_code` does."""

    answers: list[bytes] = []

    def __init__(self, vocab: Vocabulary) -> None:
        self.answers.append(os.read(0, 10))
        raise ValueError("asked")


def test_standard_input_does_not_answer_questions_of_a_model(tmp_path: Path) -> None:
    file = archive_with(sound_config() | {"model": {"type": "asking"}}, tmp_path)
    reading, writing = os.pipe()
    os.write(writing, b"y\n")
    saved = os.dup(0)
    os.dup2(reading, 0)
    try:
        with pytest.raises(InputError, match="asked"):
            load_archive(file)
        assert Asking.answers == [b""] and os.read(0, 10) == b"y\n"
    finally:
        os.dup2(saved, 0)
        for descriptor in (reading, writing, saved):
            os.close(descriptor)


@pytest.mark.parametrize(
    "name", ["config.json", "meta.json", "vocabulary/zz.txt", "weights.th"]
)
def test_folder_with_a_device(name: str, tmp_path: Path) -> None:
    require_path("/dev/zero")
    with unpacked(SOUND) as folder:
        shutil.copytree(folder, tmp_path / "run")
    (tmp_path / "run" / name).unlink(missing_ok=True)
    (tmp_path / "run" / name).symlink_to("/dev/zero")
    with pytest.raises(InputError, match="expected a regular file"):
        load_archive(tmp_path / "run")


def fetching(folder: Path, model: dict[str, Any], reader: dict[str, Any]) -> Path:
    """A sound archive whose config names what must be fetched."""
    config = sound_config()
    config["model"] |= model
    config["dataset_reader"] |= reader
    return archive_with(config, folder)


def words(**keys: Any) -> dict[str, Any]:
    return {"text_field_embedder": {"token_embedders": {"tokens": keys}}}


FETCHING: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a biLM": (
        {"elmo": {"weight_file": "URL/w.hdf5", "options_file": "URL/o.json"}},
        {},
    ),
    "two files": ({"elmo": {"model": "URL/o.json+URL/w.hdf5"}}, {}),
    "a ZIP": ({"elmo": {"model": "URL/x.zip"}}, {}),
    "a published biLM": ({"elmo": {"model": "elmo-small"}}, {}),
    "ELMoForManyLangs": ({"elmo": {"model": "manylangs-latin"}}, {}),
    "a model of the hub": ({"elmo": {"model": "hf://owner/name"}}, {}),
    "a transformer": ({"elmo": {"source": "transformer", "model": "owner/name"}}, {}),
    "AllenNLP's transformer": (
        words(type="pretrained_transformer", model_name="owner/name"),
        {},
    ),
    "AllenNLP's ELMo": (words(type="elmo_token_embedder"), {}),
    "AllenNLP's ELMo without weights": (
        words(type="elmo_token_embedder", options_file="o.json"),
        {},
    ),
    "AllenNLP's ELMo by its name": (
        {"text_field_embedder": {"token_embedders": {"tokens": "elmo_token_embedder"}}},
        {},
    ),
    "spaCy's model": (
        {},
        {
            "type": "text_classification_json",
            "tokenizer": {"type": "spacy", "language": "no_model"},
        },
    ),
    "a URL under any key": ({"encoder": {"type": "x", "files": ["URL/x"]}}, {}),
    "AllenNLP's tokenizer": (
        {},
        {
            "token_indexers": {
                "x": {"type": "pretrained_transformer", "model_name": "o/n"}
            }
        },
    ),
}


def test_files_of_this_machine_are_not_fetched(tmp_path: Path) -> None:
    files = {"options_file": "gone.json", "weight_file": "gone.hdf5"}
    model = words(type="elmo_token_embedder", **files)
    with pytest.raises(InputError, match="gone.json not found"):
        load_archive(fetching(tmp_path, model, {}))


@pytest.mark.parametrize("name", FETCHING)
def test_an_archive_fetches_nothing(name: str, tmp_path: Path) -> None:
    with serving() as server:
        model, reader = json.loads(
            json.dumps(FETCHING[name]).replace("URL", f"{server.address}/gone")
        )
        with pytest.raises(InputError) as error:
            load_archive(fetching(tmp_path, model, reader))
        assert not server.requests
    assert "--allow-downloads" in str(error.value)


@pytest.mark.parametrize("name", ["AllenNLP's transformer", "AllenNLP's tokenizer"])
def test_an_archive_fetches_nothing_offline(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the hub's library opens no connection, as with `HF_HUB_OFFLINE`."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    reset_sessions()
    with pytest.raises(InputError, match="--allow-downloads"):
        load_archive(fetching(tmp_path, *FETCHING[name]))
    monkeypatch.undo()
    reset_sessions()


def test_an_archive_fetches_what_it_is_allowed_to(tmp_path: Path) -> None:
    with serving() as server:
        file = f"{server.address}/gone/w.hdf5"
        elmo = {"weight_file": file, "options_file": file}
        archive = fetching(tmp_path, {"elmo": elmo}, {})
        with pytest.raises(InputError, match="HTTP error 404"):
            load_archive(archive, allow_downloads=True)
        assert server.requests


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (
            "no_tagger",
            "model.type: 'no_tagger' is not registered .*a package that opens AllenNLP",
        ),
        ("elmo_tasks_no_tagger", r"not registered \(import elmo_tasks.plugin"),
    ],
)
def test_a_model_of_an_unknown_class(name: str, problem: str, tmp_path: Path) -> None:
    config = {"dataset_reader": {"type": "conll2003"}, "model": {"type": name}}
    with pytest.raises(InputError, match=problem):
        load_archive(archive_with(config, tmp_path))


@pytest.mark.parametrize("text", ["[]", "null", '{"a": importstr "b"}'])
def test_a_config_that_is_no_json_object(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(text)
    (tmp_path / "vocabulary").mkdir()
    (tmp_path / "vocabulary/non_padded_namespaces.txt").touch()
    with pytest.raises(InputError, match=r"expected .* config\.json, got"):
        load_archive(tmp_path)


def test_the_folder_of_a_run_of_a_table(tmp_path: Path) -> None:
    """Its weights are in the archive alone."""
    with unpacked(SOUND) as folder:
        shutil.copytree(folder, tmp_path / "run")
    (tmp_path / "run" / "weights.th").unlink()
    with pytest.raises(InputError, match="lacks weights.th"):
        load_archive(tmp_path / "run")
    shutil.copy(SOUND, tmp_path / "run" / "model.tar.gz")
    assert load_archive(tmp_path / "run").config == load_archive(SOUND).config
