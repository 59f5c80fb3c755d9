"""`push_to_hub`, to a server on this machine."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

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
    address = elmo.push_to_hub(
        "me/latin",
        format=chosen,
        token="hf_" + "x" * 20,
        commit_message="First",
        language="la",
    )
    assert address == f"{hub.address}/me/latin/commit/{'0' * 40}"
    files = hub.repositories["me/latin"]
    assert files.keys() == FILES[chosen]
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


def test_a_card_of_a_saved_model_names_the_repository(
    hub: FakeHub, elmo: Elmo, tmp_path: Path
) -> None:
    elmo.save_pretrained(tmp_path / "out", text="letters")
    Elmo.from_pretrained(tmp_path / "out", device="cpu").push_to_hub("me/latin")
    text = hub.repositories["me/latin"]["README.md"].decode()
    assert "| text | letters |" in text and "hf://me/latin" in text
    assert "OWNER" not in text


def test_a_repository_has_one_format(hub: FakeHub, elmo: Elmo) -> None:
    elmo.push_to_hub("me/latin")
    with pytest.raises(
        InputError, match="hf://me/latin: expected no files of another m"
    ):
        elmo.push_to_hub("me/latin", format="safetensors")
    assert len(hub.commits) == 1


@pytest.mark.parametrize("chosen", FILES)
@pytest.mark.parametrize(
    "names",
    [
        ("config.json", "pytorch_model.bin"),
        ("encoder.pkl", "token_embedder.pkl"),
        ("x_options.json", "x_weights.hdf5"),
        ("weights.hdf5",),
        ("options.json",),
        ("model.safetensors",),
    ],
)
def test_another_model_of_a_repository_stays(
    names: tuple[str, ...], chosen: Format, hub: FakeHub, elmo: Elmo
) -> None:
    """What is pushed is read again, or nothing is."""
    files = dict.fromkeys(names, b'{"model_type": "bert"}')
    hub.repositories["me/latin"] = dict(files)
    try:
        elmo.push_to_hub("me/latin", format=chosen)
    except InputError as error:
        found = re.search(
            "expected no files of another model, got (.*?) \\(", str(error)
        )
        assert found is not None and set(found[1].split(", ")) <= set(names)
        assert hub.repositories["me/latin"] == files
        return
    assert set(names) < FILES[chosen]
    again = Elmo.from_pretrained("hf://me/latin", device="cpu")
    assert np.array_equal(again.embed(TEXT)[0], elmo.embed(TEXT)[0])


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("me/latin", "hf://me/latin: cannot push to the hub: .*403.*token=... allows"),
        ("a/b/c", "hf://a/b/c: cannot push to the hub: .*Repo id must be"),
    ],
)
def test_a_hub_that_refuses(hub: FakeHub, elmo: Elmo, name: str, problem: str) -> None:
    hub.refuses = True
    with pytest.raises(InputError, match=problem) as error:
        elmo.push_to_hub(name)
    assert "\n" not in str(error.value)


def test_a_hub_that_is_away(
    hub: FakeHub, elmo: Elmo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(InputError, match="hf://me/latin: cannot push to the hub: "):
        elmo.push_to_hub("me/latin")


def test_the_error_is_that_of_the_format_of_the_repository(
    hub: FakeHub, elmo: Elmo
) -> None:
    elmo.push_to_hub("me/latin", format="safetensors")
    set_download_limit(1e-6)
    with pytest.raises(InputError, match="hf://me/latin: expected at most 1,000 byte"):
        Elmo.from_pretrained("hf://me/latin", device="cpu")
    set_download_limit(None)
    hub.repositories["me/none"] = {}
    with pytest.raises(InputError, match="me/none: expected the files of a model"):
        Elmo.from_pretrained("hf://me/none", device="cpu")


def test_offline_what_was_downloaded_before_is_read(hub: FakeHub, elmo: Elmo) -> None:
    elmo.push_to_hub("me/latin")
    for model in ("hf://me/latin", "elmo-small", "https://example.org/x.zip"):
        with pytest.raises(NotAllowed, match=f"{model}|elmo_2x1024.*json"):
            Elmo.from_pretrained(model, device="cpu", offline=True)
    again = Elmo.from_pretrained("hf://me/latin", device="cpu")
    offline = Elmo.from_pretrained("hf://me/latin", device="cpu", offline=True)
    assert np.array_equal(offline.embed(TEXT)[0], again.embed(TEXT)[0])
