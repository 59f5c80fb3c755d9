"""Models by path, URL, ZIP and name."""

import hashlib
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.cli.main import run
from elmo_tasks.elmo import Elmo, ElmoVectors
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.sources.types import SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.cache_folder import cache_folder
from elmo_tasks.formats.fetching.fetch import (
    NotAllowed,
    NotFetched,
    hub_files,
    hub_model,
    is_whole_model,
    local_path,
    model_path,
    set_download_limit,
)
from elmo_tasks.formats.fetching.published import MODELS, PublishedModel, published
from elmo_tasks.pretraining.export import load_start
from elmo_tasks.system.files import file_sha256
from tests.elmo.samples import random_bilm, write_bilm
from tests.elmo.sources.transformer_samples import write_transformer
from tests.fake_hub import FakeHub, fake_hub

TEXT = ["The harbour froze over .", "one"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/elmo_tasks"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """
    A biLM as the NLPL repository has them, in `204` and `204.zip`, and as AllenNLP has
    them, in `web`.
    """
    (tmp_path / "204").mkdir()
    (tmp_path / "web").mkdir()
    options, weights = map(Path, write_bilm(tmp_path / "204"))
    (tmp_path / "web/x_options.json").write_bytes(options.read_bytes())
    (tmp_path / "web/x_weights.hdf5").write_bytes(weights.read_bytes())
    weights.rename(tmp_path / "204/model.hdf5")
    (tmp_path / "204/vocab.txt").write_text("the\n")
    (tmp_path / "204/meta.json").write_text("{}")
    with zipfile.ZipFile(tmp_path / "204.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for file in (tmp_path / "204").iterdir():
            packed.write(file, file.name)
        packed.writestr("../../escaped.json", "{}")
        packed.writestr("__MACOSX/._model.hdf5", "a resource fork")
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[ThreadingHTTPServer]:
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def embedded(model: str | Path) -> np.ndarray:
    return Elmo.from_pretrained(model).embed(TEXT)[0]


def test_a_bilm_is_taken_from_folder_zip_and_files(folder: Path) -> None:
    expected = Elmo(Layers(random_bilm())).embed(TEXT)[0]
    for model in ("204", "204.zip", "web"):
        assert np.array_equal(embedded(folder / model), expected)
    pair = f"{folder / '204/options.json'}+{folder / '204/model.hdf5'}"
    assert np.array_equal(embedded(pair), expected)
    assert load_start(str(folder / "204.zip"))[0].options == random_bilm().options
    (folder / "in.txt").write_text("The harbour froze over .\n")
    run(
        [
            "elmo",
            str(folder / "in.txt"),
            str(folder / "out"),
            "--model",
            str(folder / "204.zip"),
        ]
    )
    assert np.allclose(ElmoVectors(folder / "out")[0], expected, atol=1e-6)
    opened = Layers.open(SourceSettings(model=folder / "204.zip"))
    files = opened.opened_files().files
    assert {file.name for file in files.values()} == {str(folder / "204.zip")}
    assert [file.parent.parent.name for file in folder.rglob("escaped.json")] == [
        "unpacked"
    ]
    assert not list(folder.rglob("._*"))


def test_saved_models_are_read_again(folder: Path) -> None:
    elmo = Elmo.from_pretrained(folder / "204.zip")
    elmo.save_pretrained(folder / "saved")
    assert (
        file_sha256(folder / "saved/weights.hdf5")
        == elmo.layers.opened_files().weight_file.sha256
    )
    assert np.array_equal(embedded(folder / "saved"), elmo.embed(TEXT)[0])
    Elmo(Layers(elmo.layers.source)).save_pretrained(folder / "again")
    assert np.array_equal(embedded(folder / "again"), elmo.embed(TEXT)[0])
    other = Elmo.from_pretrained(write_transformer(folder / "bert"))
    other.save_pretrained(folder / "other")
    assert np.array_equal(embedded(folder / "other"), other.embed(TEXT)[0])
    stale = Elmo.from_pretrained(folder / "saved")
    write_bilm(folder / "saved", seed=4)
    with pytest.raises(
        InputError, match=r"weights\.hdf5: the file has changed since it was opened"
    ):
        stale.save_pretrained(folder / "stale")
    assert not (folder / "stale").exists()


@pytest.mark.slow
def test_names_and_urls_are_downloaded_once(
    folder: Path,
    server: ThreadingHTTPServer,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = f"http://127.0.0.1:{server.server_port}"
    weights = folder / "web/x_weights.hdf5"
    files = (
        f"{address}/web/x_options.json",
        f"{address}/web/x_weights.hdf5#sha256={file_sha256(weights)}",
    )
    monkeypatch.setitem(MODELS, "elmo-small", PublishedModel("English", "", files))
    zipped = f"{address}/204.zip#sha256={file_sha256(folder / '204.zip')}"
    expected = embedded(folder / "204")
    with (
        monkeypatch.context() as patched,
        pytest.raises(InputError, match=r"cannot fetch http.*: ChunkedEncodingError"),
    ):
        patched.setattr(
            SimpleHTTPRequestHandler,
            "copyfile",
            lambda _, source, out: out.write(source.read(9)),
        )
        embedded(zipped)
    with pytest.raises(
        InputError, match=r"cannot fetch http://127.0.0.1:\d+/gone.zip: HTTP error 404"
    ):
        embedded(f"{address}/gone.zip")
    with pytest.raises(InputError, match="expected sha256:0+ but got"):
        local_path(f"{address}/204.zip#sha256={'0' * 64}")
    for _ in range(2):
        assert np.array_equal(embedded("elmo-small"), expected) and np.array_equal(
            embedded(zipped), expected
        )
        server.shutdown()
    assert not [path for path in cache.rglob("*") if path.name.endswith(".tmp")]


def test_errors(folder: Path) -> None:
    with pytest.raises(
        InputError,
        match="elmo-orginal: no such model .nearest: elmo-original; .*`elmo-tasks models`",
    ):
        Elmo.from_pretrained("elmo-orginal")
    with pytest.raises(
        InputError, match=r"weight_file: expected one file .for a whole mo"
    ):
        Elmo.from_files(folder / "204/options.json", folder / "204.zip")
    with pytest.raises(InputError, match=r"model\.hdf5: expected NAME.*, got one file"):
        Elmo.from_pretrained(folder / "204/model.hdf5")
    (folder / "204/model.hdf5").unlink()
    with pytest.raises(
        InputError, match=r"204: expected a biLM with weights\.hdf5 or model\.hdf5"
    ):
        Elmo.from_pretrained(folder / "204")


def bomb(file: Path) -> None:
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("model.hdf5", "w") as member,
    ):
        for _ in range(100):
            member.write(bytes(2**20))


def twice(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("a/model.hdf5", b"")
        packed.writestr("b/model.hdf5", b"")


@pytest.mark.parametrize(
    ("write", "problem"),
    [
        (bomb, "unpacks to more than 100 times its size"),
        (twice, "has two members named model.hdf5"),
        (lambda file: file.touch(), "not a zip file"),
    ],
)
def test_hostile_zips_are_one_error(
    write: Callable[[Path], None], problem: str, tmp_path: Path, cache: Path
) -> None:
    write(tmp_path / "x.zip")
    with pytest.raises(InputError, match=rf"x\.zip: .*{problem}"):
        model_path(str(tmp_path / "x.zip"))
    assert not list((cache / "unpacked").iterdir())


def small_zip(file: Path, *names: str) -> Path:
    with zipfile.ZipFile(file, "w") as packed:
        for name in names:
            packed.writestr(name, name)
    return file


def test_a_zip_is_unpacked_once(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = small_zip(
        tmp_path / "x.zip", "a.json", "b/model.hdf5", "c.dic", "d.pkl", "e"
    )
    found = model_path(str(file))
    assert found.parent == cache / "unpacked" and found.name == file_sha256(file)
    names = ["a.json", "c.dic", "d.pkl", "e", "model.hdf5"]
    assert sorted(path.name for path in found.iterdir()) == names
    assert list(found.parent.iterdir()) == [found]
    written = (found / "a.json").stat().st_mtime_ns
    file.rename(tmp_path / "renamed.ZIP")
    assert model_path(str(tmp_path / "renamed.ZIP")) == found
    (tmp_path / "renamed.ZIP").rename(tmp_path / "other")
    assert model_path(str(tmp_path / "other")) == found  # by its first bytes
    assert (found / "a.json").stat().st_mtime_ns == written
    other = model_path(str(small_zip(tmp_path / "y.zip", "b.json")))
    assert sorted(found.parent.iterdir()) == sorted([found, other])
    (tmp_path / "plain").write_text("no ZIP")
    assert model_path(str(tmp_path / "plain")) == tmp_path / "plain"


def test_a_zip_that_cannot_be_unpacked(tmp_path: Path, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "unpacked").touch()
    file = small_zip(tmp_path / "x.zip", "a.json")
    with pytest.raises(InputError, match="unpacked/.*: cannot write: File exists"):
        model_path(str(file))


def test_a_damaged_zip_of_the_user_is_never_removed(
    tmp_path: Path, cache: Path
) -> None:
    file = small_zip(tmp_path / "x.zip", "a.json")
    content = bytearray(file.read_bytes())
    content[content.index(b"a.json") + len(b"a.json")] ^= 1  # of the member's content
    file.write_bytes(content)
    with pytest.raises(InputError, match="x.zip") as error:
        model_path(str(file))
    assert "it was removed" not in str(error.value)
    assert file.read_bytes() == bytes(content)


def test_a_zip_that_another_process_unpacks_first(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = small_zip(tmp_path / "x.zip", "a.json")
    rename = Path.rename

    def later(path: Path, target: Path) -> Path:
        target.mkdir()
        (target / "a.json").write_text("of another")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", later)
    found = model_path(str(file))
    assert (found / "a.json").read_text() == "of another"
    assert list((cache / "unpacked").iterdir()) == [found]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("elmo-small", True),
        ("manylangs-latin", True),
        ("elmo-smal", False),
        ("hf://me/model", True),
        ("hf://me/model@v1/", True),
        ("hf://me/model/options.json", False),
        ("x.zip", True),
        ("x.ZIP", True),
        ("x.zip.txt", False),
        ("https://a/x.zip?sig=1#sha256=00", True),
        ("https://a/x.zip#sha256=00", True),
        ("https://a/x?y=a.zip", False),
        ("x?y=a.zip", True),
        (".", True),
        ("~", True),
        ("none/", False),
    ],
)
def test_what_is_a_whole_model(given: str, expected: bool) -> None:
    assert is_whole_model(given) == expected
    assert is_whole_model(Path(given)) or not expected or "://" in given


def test_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path
) -> None:
    assert cache_folder() == cache
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", None):
        if value is None:
            monkeypatch.delenv("XDG_CACHE_HOME")
        else:
            monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert cache_folder() == tmp_path / ".cache/elmo_tasks"
    monkeypatch.setenv("XDG_CACHE_HOME", "~/mine")
    assert cache_folder() == tmp_path / "mine/elmo_tasks"


@pytest.mark.parametrize(
    "end", ["", "x", "sha256=", f"sha256={'0' * 63}", f"sha256={'0' * 65}", "md5=00"]
)
def test_other_ends_than_a_digest(end: str) -> None:
    with pytest.raises(InputError, match="http://a/x: expected #sha256= and 64 hexa"):
        local_path(f"http://a/x#{end}")


def test_a_file_of_the_cache_with_another_digest(cache: Path, folder: Path) -> None:
    server = "http://127.0.0.1:1/x.bin"
    place = hashlib.sha256(server.encode()).hexdigest()[:16]
    file = cache / "downloads" / place / "x.bin"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"x")
    digest = hashlib.sha256(b"x").hexdigest()
    assert local_path(f"{server}#sha256={digest.upper()}") == file
    with pytest.raises(InputError, match="cannot fetch http.*no connection"):
        local_path(f"{server}#sha256={'0' * 64}")
    assert file.read_bytes() == b"x"
    nameless = hashlib.sha256(b"http://127.0.0.1:1/").hexdigest()[:16]
    (cache / "downloads" / nameless).mkdir()
    (cache / "downloads" / nameless / "file").touch()
    assert local_path("http://127.0.0.1:1/").name == "file"


PUBLISHED = {
    "elmo-original": ("English", 93.6, "elmo_2x4096_512_2048cnn_2xhighway"),
    "elmo-small": ("English", 13.6, "elmo_2x1024_128_2048cnn_1xhighway"),
    "elmo-medium": ("English", 28.0, "elmo_2x2048_256_2048cnn_1xhighway"),
    "elmo-5.5b": ("English", 93.6, "elmo_2x4096_512_2048cnn_2xhighway_5.5B"),
    "elmo-pubmed": ("English", 93.6, "elmo_2x4096_512_2048cnn_2xhighway"),
    "elmo-portuguese": ("Portuguese", None, "elmo_pt"),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models(name: str) -> None:
    language, millions, prefix = PUBLISHED[name]
    model = MODELS[name]
    options, weights = model.files
    assert (model.language, model.millions, model.is_bilm) == (language, millions, True)
    assert options.endswith(f"/{prefix}_options.json")
    assert f"/{prefix}_weights" in weights and weights.endswith(".hdf5")
    assert options.startswith("https://allennlp.s3.amazonaws.com/models/elmo/")
    assert model.most_bytes(options) == 2**20
    expected = None if millions is None else pytest.approx(millions * 4.4e6)
    assert model.most_bytes(weights) == expected


@pytest.mark.parametrize(
    ("name", "language", "number"),
    [
        ("arabic", "Arabic", 136),
        ("old-church-slavonic", "Old Church Slavonic", 140),
        ("latin", "Latin", 162),
        ("norwegian-bokmal", "Norwegian Bokmål", 165),
        ("chinese", "Chinese", 179),
    ],
)
def test_models_of_many_languages(name: str, language: str, number: int) -> None:
    model = MODELS[f"manylangs-{name}"]
    assert model.files == (f"http://vectors.nlpl.eu/repository/11/{number}.zip",)
    assert (model.language, model.is_bilm) == (language, False)
    assert model.millions is None and model.most_bytes(model.files[0]) is None
    assert published(f"nlpl-{number}") is model


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub with a repository."""
    with fake_hub(tmp_path / "hub", monkeypatch) as server:
        files = {"a/options.json": b"{}", "b.bin": bytes(600_000), "c.txt": bytes(10)}
        server.repositories["me/latin"] = files
        yield server
    set_download_limit(None)


def away(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub cannot be reached any more."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")


@pytest.mark.parametrize("revision", ["", "@v1"])
def test_a_file_of_the_hub(
    revision: str, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"hf://me/latin{revision}/a/options.json"
    with pytest.raises(NotAllowed, match="expected a local file"):
        local_path(url, offline=True)
    path = local_path(url)
    assert path.read_bytes() == b"{}"
    digest = hashlib.sha256(b"{}").hexdigest()
    assert local_path(f"{url}#sha256={digest}") == path
    with pytest.raises(InputError, match=f"expected sha256=0+, got {digest}"):
        local_path(url, sha256="0" * 64)
    assert local_path(url, offline=True) == path
    away(hub, monkeypatch)
    assert local_path(url) == path
    with pytest.raises(NotFetched, match="cannot fetch hf://me/other: ") as error:
        local_path("hf://me/other/x.json")
    assert "\n" not in str(error.value)


def test_what_the_hub_does_not_have(hub: FakeHub) -> None:
    with pytest.raises(NotFetched, match="hf://me/latin: it has no file x.json"):
        local_path("hf://me/latin/x.json")
    with pytest.raises(NotFetched, match="cannot fetch hf://me/other: .*404") as error:
        local_path("hf://me/other/x.json")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "name", ["hf://", "hf://me", "hf://me/x", "hf:///x/y", "hf://me//y"]
)
def test_incomplete_addresses_of_the_hub(name: str) -> None:
    with pytest.raises(
        InputError, match=f"cannot fetch {name}: expected hf://owner/nam"
    ):
        local_path(name)


def test_a_model_of_the_hub(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of its files that are wanted are limited together."""
    patterns = ["*.json", "*.bin"]
    set_download_limit(0.000_6)
    problem = "hf://me/latin: expected at most 600,000 bytes, got 600,002 .--download-l"
    with pytest.raises(InputError, match=problem):
        hub_model("hf://me/latin", patterns)
    set_download_limit(0.000_600_002)
    folder = hub_model("me/latin", patterns)
    names = [path.name for path in folder.rglob("*") if path.is_file()]
    assert sorted(names) == ["b.bin", "options.json"]
    assert hub_files("hf://me/latin") == {"b.bin", "c.txt"}
    assert hub_files("hf://me/latin", offline=True) == {"a", "b.bin"}
    assert hub_model("me/latin", ["*.bin"], offline=True) == folder
    with pytest.raises(NotAllowed):
        hub_model("me/latin", ["*.txt"], offline=True)
    away(hub, monkeypatch)
    assert hub_model("me/latin", ["*.bin"]) == folder
    with pytest.raises(NotFetched, match="cannot fetch me/latin"):
        hub_model("me/latin", ["*.txt"])
