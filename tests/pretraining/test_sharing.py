"""An exported folder on the Hugging Face Hub works by its URL."""

import hashlib
from pathlib import Path

import pytest

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.models.files import resolve_files
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import FORMATS, Format, written_names
from elmo_tasks.formats.fetching.fetch import local_path
from elmo_tasks.pretraining.export import export_run, load_trained
from tests.fake_hub import fake_hub
from tests.pretraining import toy


@pytest.mark.parametrize("chosen", FORMATS)
def test_files_of_the_hub_that_were_downloaded_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: Format
) -> None:
    toy.fake_run(tmp_path / "run")
    cached = tmp_path / "cache/models--me--latin"
    folder = cached / "snapshots" / ("0" * 40)
    export_run(tmp_path / "run", folder, chosen=chosen)
    (cached / "refs").mkdir()
    (cached / "refs/v1").write_text("0" * 40)
    monkeypatch.setattr(
        "huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache")
    )
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    url = "hf://me/latin@v1"
    with pytest.raises(InputError, match="cannot fetch hf://me/other: "):
        local_path("hf://me/other/options.json")
    assert load_trained(url).vocabulary.words[3:] == toy.WORDS
    assert Elmo.from_pretrained(url).layers.output_dim == 24
    names = written_names(chosen)
    options = hashlib.sha256((folder / names["options_file"]).read_bytes()).hexdigest()
    parts = {key: f"{url}/{name}" for key, name in names.items()}
    parts["options_file"] += f"#sha256={options}"
    found = resolve_files("bilm", parts)
    assert BiLM.from_files(*found.paths.values()).output_dim == 24


@pytest.mark.parametrize("chosen", FORMATS)
def test_a_language_model_is_downloaded_from_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: Format
) -> None:
    """Also what its biLM alone does not need: the vocabulary and the softmax."""
    toy.fake_run(tmp_path / "run")
    folder = tmp_path / "exported"
    export_run(tmp_path / "run", folder, chosen=chosen)
    hub = fake_hub(tmp_path / "cache", monkeypatch)
    hub.repositories["me/latin"] = {
        path.name: path.read_bytes() for path in folder.iterdir()
    }
    trained = load_trained("hf://me/latin")
    expected = load_trained(folder)
    assert trained.vocabulary.words == expected.vocabulary.words
    state = expected.model.state_dict()
    for name, values in trained.model.state_dict().items():
        assert values.equal(state[name]), name
