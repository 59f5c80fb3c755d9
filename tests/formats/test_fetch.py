"""Models by path, ZIP, name, and of the hub."""

import hashlib
import zipfile
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.fetch import (
    NotAllowed,
    hub_model,
    local_path,
    model_path,
)
from elmo_tasks.system.files import file_sha256
from tests.elmo.samples import random_bilm, write_bilm
from tests.fake_hub import FakeHub, fake_hub

TEXT = ["The harbour froze over .", "one"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/elmo_tasks"


def test_a_bilm_is_taken_from_folder_and_zip(tmp_path: Path) -> None:
    """As the NLPL repository and AllenNLP name their files."""
    options, weights = map(Path, write_bilm(tmp_path))
    for names in (("options.json", "model.hdf5"), ("x_options.json", "x_weights.hdf5")):
        folder = tmp_path / f"of-{names[1]}"
        folder.mkdir()
        (folder / names[0]).write_bytes(options.read_bytes())
        (folder / names[1]).write_bytes(weights.read_bytes())
        (folder / "meta.json").write_text("{}")
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
            for file in folder.iterdir():
                packed.write(file, file.name)
            packed.writestr("../../escaped.json", "{}")
        expected = Elmo(Layers(random_bilm())).embed(TEXT)[0]
        for model in (folder, tmp_path / "x.zip"):
            found = Elmo.from_pretrained(model, device="cpu").embed(TEXT)[0]
            assert np.array_equal(found, expected)
    for file in tmp_path.rglob("escaped.json"):
        assert file.parent.parent.name == "unpacked"


def test_a_damaged_zip(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "x.zip").touch()
    with pytest.raises(InputError, match=r"x\.zip: .*not a zip file"):
        model_path(str(tmp_path / "x.zip"))
    assert not list((cache / "unpacked").iterdir())


def test_a_zip_is_unpacked_once(tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "x.zip"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("a.json", "{}")
    found = model_path(str(file))
    assert found == cache / "unpacked" / file_sha256(file)
    written = (found / "a.json").stat().st_mtime_ns
    file.rename(tmp_path / "other")
    assert model_path(str(tmp_path / "other")) == found  # by its first bytes
    assert (found / "a.json").stat().st_mtime_ns == written
    (tmp_path / "plain").write_text("no ZIP")
    assert model_path(str(tmp_path / "plain")) == tmp_path / "plain"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    """A hub with a repository."""
    hub = fake_hub(tmp_path / "hub", monkeypatch)
    files = {"a/options.json": b"{}", "b.bin": bytes(600_000), "c.txt": bytes(10)}
    hub.repositories["me/latin"] = files
    return hub


def test_a_file_of_the_hub(hub: FakeHub) -> None:
    url = "hf://me/latin@v1/a/options.json"
    with pytest.raises(NotAllowed, match="expected a local file"):
        local_path(url, offline=True)
    path = local_path(url)
    assert path.read_bytes() == b"{}" and "latin@v1" in str(path)
    assert local_path(url, offline=True) == path
    digest = hashlib.sha256(b"{}").hexdigest()
    assert local_path(f"{url}#sha256={digest}") == path
    for bad, problem in (
        (f"{url}#sha256={'0' * 64}", f"expected sha256=0+, got {digest}"),
        ("hf://me/latin/x.json", "hf://me/latin: it has no file x.json"),
        ("hf://me/other/x.json", "cannot fetch hf://me/other: .*me/other"),
        ("hf://me/x", "expected hf://owner/name/file"),
    ):
        with pytest.raises(InputError, match=problem):
            local_path(bad)


def test_a_hub_that_does_not_answer(hub: FakeHub) -> None:
    """What was fetched before is used; another file is not said to be missing."""
    before = hub_model("me/latin", ["*.txt"])
    hub.repositories.clear()
    assert hub_model("me/latin", ["*.txt"]) == before
    with pytest.raises(InputError, match="me/latin: me/latin did not answer"):
        hub_model("me/latin", ["*.json"])


def test_a_model_of_the_hub(hub: FakeHub) -> None:
    folder = hub_model("me/latin/", ["*.json", "*.bin"])
    names = [path.name for path in folder.rglob("*") if path.is_file()]
    assert sorted(names) == ["b.bin", "options.json"]
    with pytest.raises(InputError, match="me/latin: it has no files of a model"):
        hub_model("me/latin", ["*.x", "*.y"])
    hub.repositories.clear()  # the hub is out of reach
    for offline in (False, True):
        assert hub_model("me/latin", ["*.bin"], offline=offline) == folder
    with pytest.raises(NotAllowed):
        hub_model("me/latin", ["*.txt"], offline=True)
    with pytest.raises(InputError, match="cannot fetch me/latin"):
        hub_model("me/latin", ["*.txt"])
