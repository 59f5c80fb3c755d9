"""`push_to_hub`, to a server on this machine."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub.errors import HfHubHTTPError

from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import Format
from elmo_tasks.formats.fetching.fetch import NotAllowed, set_download_limit
from tests.elmo.samples import write_bilm
from tests.fake_hub import FakeHub, fake_hub

TEXT = ["The harbour froze over ."]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with fake_hub(tmp_path / "cache", monkeypatch) as server:
        yield server
    set_download_limit(None)


@pytest.fixture
def elmo(tmp_path: Path) -> Elmo:
    return Elmo.from_files(*write_bilm(tmp_path), device="cpu")


FILES = {
    "hdf5": {"README.md", "options.json", "weights.hdf5"},
    "safetensors": {"README.md", "config.json", "model.safetensors"},
}


@pytest.mark.parametrize("chosen", FILES)
def test_what_is_pushed_is_read_again(chosen: Format, hub: FakeHub, elmo: Elmo) -> None:
    """In place of the model that was there."""
    stale = ("pytorch_model.bin", "encoder.pkl", "x_weights.hdf5", "model.safetensors")
    hub.repositories["me/latin"] = {**dict.fromkeys(stale, b"{}"), "notes": b"mine"}
    address = elmo.push_to_hub(
        "me/latin",
        format=chosen,
        token="hf_" + "x" * 20,
        commit_message="First",
        language="la",
    )
    assert address == f"{hub.address}/me/latin/commit/{'0' * 40}"
    files = hub.repositories["me/latin"]
    assert files.keys() == {*FILES[chosen], "notes"}
    (commit,) = hub.commits
    assert commit["summary"] == "First" and commit["path"].endswith("/commit/main")
    assert hub.tokens == {f"Bearer hf_{'x' * 20}"}
    text = files["README.md"].decode()
    assert text.startswith("---\nlanguage: la\n") and "# me/latin\n" in text
    assert 'Elmo.from_pretrained("hf://me/latin")' in text
    again = Elmo.from_pretrained("hf://me/latin", device="cpu")
    assert np.array_equal(again.embed(TEXT)[0], elmo.embed(TEXT)[0])


def test_the_card_of_a_repository_stays(hub: FakeHub, elmo: Elmo) -> None:
    hub.repositories["me/latin"] = {"README.md": b"mine"}
    elmo.push_to_hub("me/latin")
    assert hub.repositories["me/latin"]["README.md"] == b"mine"
    elmo.push_to_hub("me/latin", license="cc0-1.0", revision="v1")
    assert b"license: cc0-1.0" in hub.repositories["me/latin"]["README.md"]
    assert hub.commits[1]["path"].endswith("/commit/v1")


def test_a_hub_that_refuses(hub: FakeHub, elmo: Elmo) -> None:
    hub.refuses = True
    with pytest.raises(HfHubHTTPError, match="403"):
        elmo.push_to_hub("me/latin")


def test_a_repository_that_is_too_large_or_empty(hub: FakeHub, elmo: Elmo) -> None:
    elmo.push_to_hub("me/latin", format="safetensors")
    set_download_limit(1e-6)
    with pytest.raises(InputError, match="hf://me/latin: expected at most 1,000 byte"):
        Elmo.from_pretrained("hf://me/latin", device="cpu")
    set_download_limit(None)
    hub.repositories["me/none"] = {"x.txt": b""}
    with pytest.raises(InputError, match="hf://me/none: it has no files of a model"):
        Elmo.from_pretrained("hf://me/none", device="cpu")


def test_offline_what_was_downloaded_before_is_read(hub: FakeHub, elmo: Elmo) -> None:
    elmo.push_to_hub("me/latin")
    with pytest.raises(NotAllowed, match="hf://me/latin"):
        Elmo.from_pretrained("hf://me/latin", device="cpu", offline=True)
    again = Elmo.from_pretrained("hf://me/latin", device="cpu")
    offline = Elmo.from_pretrained("hf://me/latin", device="cpu", offline=True)
    assert np.array_equal(offline.embed(TEXT)[0], again.embed(TEXT)[0])
