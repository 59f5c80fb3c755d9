"""`push_to_hub`, to a hub in memory."""

from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.formats.bilm_files import Format, written_names
from elmo_tasks.formats.fetching.fetch import NotAllowed
from tests.elmo.samples import write_bilm
from tests.fake_hub import FakeHub, fake_hub

TEXT = ["The harbour froze over ."]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    return fake_hub(tmp_path / "cache", monkeypatch)


@pytest.fixture
def elmo(tmp_path: Path) -> Elmo:
    return Elmo.from_files(*write_bilm(tmp_path), device="cpu")


@pytest.mark.parametrize("chosen", ["hdf5", "safetensors"])
def test_what_is_pushed_is_read_again(chosen: Format, hub: FakeHub, elmo: Elmo) -> None:
    """In place of the model that was there."""
    stale = ("pytorch_model.bin", "encoder.pkl", "x_weights.hdf5", "model.safetensors")
    hub.repositories["me/latin"] = {**dict.fromkeys(stale, b"{}"), "notes": b"mine"}
    address = elmo.push_to_hub(
        "me/latin", format=chosen, token="secret", commit_message="First", language="la"
    )
    assert address == "https://hub/me/latin" and hub.token == "secret"
    files = hub.repositories["me/latin"]
    assert files.keys() == {*written_names(chosen).values(), "README.md", "notes"}
    assert hub.commits == [
        {"commit_message": "First", "revision": None, "create_pr": False}
    ]
    text = files["README.md"].decode()
    assert text.startswith("---\nlanguage: la\n") and "# me/latin\n" in text
    assert 'Elmo.from_pretrained("hf://me/latin")' in text
    with pytest.raises(NotAllowed, match="hf://me/latin"):
        Elmo.from_pretrained("hf://me/latin", device="cpu", offline=True)
    for offline in (False, True):
        again = Elmo.from_pretrained("hf://me/latin", device="cpu", offline=offline)
        assert np.array_equal(again.embed(TEXT)[0], elmo.embed(TEXT)[0])


def test_the_card_of_a_repository_stays(hub: FakeHub, elmo: Elmo) -> None:
    hub.repositories["me/latin"] = {"README.md": b"mine"}
    elmo.push_to_hub("me/latin")
    assert hub.repositories["me/latin"]["README.md"] == b"mine"
    elmo.push_to_hub("me/latin", license="cc0-1.0", revision="v1", create_pr=True)
    assert b"license: cc0-1.0" in hub.repositories["me/latin"]["README.md"]
    assert hub.commits[1]["revision"] == "v1" and hub.commits[1]["create_pr"]
    assert hub.branches == ["v1"]
