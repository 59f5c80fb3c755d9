"""An exported folder on the Hugging Face Hub works by its URL."""

from pathlib import Path

import pytest

from elmo_tasks.formats.bilm_files import FORMATS, Format
from elmo_tasks.pretraining.export import export_run, load_trained
from tests.fake_hub import fake_hub
from tests.pretraining import toy


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
