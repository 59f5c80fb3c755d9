"""Published models in the cache: listed, downloaded, resumed, compared and removed."""

import hashlib
import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_tasks.cli.main import run
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.fetch import local_path, model_path
from elmo_tasks.formats.fetching.published import (
    ALIASES,
    MODELS,
    NOT_STATED,
    Licence,
    PublishedModel,
    nearest_model,
    published,
    published_at,
)
from tests.elmo.samples import write_bilm
from tests.web_server import CONTENT, Server, serving

NAME = "elmo-small"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/elmo_tasks"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def publish(
    monkeypatch: pytest.MonkeyPatch,
    *files: str,
    md5: tuple[str, ...] = (),
    licence: Licence = NOT_STATED,
) -> None:
    """Has the files of a published model be these URLs."""
    model = PublishedModel("English", "news", files, md5=md5, licence=licence)
    monkeypatch.setitem(MODELS, NAME, model)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run(["models", *arguments])
    return capsys.readouterr().out


def test_the_card_of_a_published_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its publisher says stands in the card, unless something else is said."""
    publish(monkeypatch, *write_bilm(tmp_path), licence=Licence("MIT"))
    elmo = Elmo.from_pretrained(NAME, device="cpu")
    elmo.save_pretrained(tmp_path / "a")
    elmo.save_pretrained(tmp_path / "b", license="cc0-1.0", text="letters")
    first, second = [(tmp_path / name / "README.md").read_text() for name in "ab"]
    for line in ("| language | English |", "| text | news |", "| licence | MIT |"):
        assert line in first
    for line in ("| text | letters |", "| licence | cc0-1.0 |"):
        assert line in second


def test_a_model_is_downloaded_and_removed(
    server: Server,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = (f"{server.address}/sound/o.bin", f"{server.address}/sound/w.bin")
    publish(monkeypatch, *files)
    assert "in the cache: no" in printed(capsys, NAME)
    path = local_path(files[0])
    assert "in the cache: partly" in printed(capsys, NAME)
    shown = printed(capsys, "--download", NAME)
    assert f"{NAME}: {2 * len(CONTENT):,} bytes" in shown
    assert shown.count(f"sha256 {SHA256}") == 2
    shown = printed(capsys, NAME)
    assert f"{NAME} *  English" in shown
    assert "in the cache: yes" in shown and str(path) in shown
    count = len(server.requests)
    printed(capsys, "--download", NAME)
    assert len(server.requests) == count
    shown = printed(capsys, "--remove", NAME)
    assert shown == f"{NAME}: removed {2 * len(CONTENT):,} bytes\n"
    assert not [path for path in cache.rglob("*") if path.is_file()]
    assert "in the cache: no" in printed(capsys, NAME)
    with pytest.raises(InputError, match=f"{NAME}: it is not in the cache"):
        run(["models", "--remove", NAME])


def test_a_published_md5_is_shown(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    files = (f"{server.address}/sound/o.bin", f"{server.address}/sound/w.bin")
    publish(monkeypatch, *files, md5=(MD5, MD5))
    shown = printed(capsys, "--download", NAME)
    assert f"md5 {MD5}, as published" in shown
    assert not caplog.records
    assert f"  md5 {MD5}, as published" in printed(capsys, NAME)


def test_the_unpacked_files_of_a_zip_are_removed(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    publish(monkeypatch, f"{server.address}/packed/1.zip")
    folder = model_path(NAME)
    assert os.listdir(folder) == ["options.json"]
    run(["models", "--remove", NAME])
    assert not folder.exists()


def test_a_published_file_is_known_by_its_address() -> None:
    model = MODELS["elmo-original"]
    options, weights = [file.partition("#")[0] for file in model.files]
    assert published_at(options) is published_at(weights) is model
    moved = f"https://example.org/mirror/{weights.rpartition('/')[2]}"
    assert published_at(moved) is None


@pytest.mark.parametrize("name", MODELS)
def test_the_stated_width_is_that_of_the_name(name: str) -> None:
    """The files of the paper's authors have both directions' projections in their name."""
    model = MODELS[name]
    sizes = re.search(r"_2x(\d+)_(\d+)_2048cnn_", " ".join(model.files))
    if sizes is not None:
        assert model.dimension == 2 * int(sizes[2])
    if model.dimension is not None:
        assert model.dimension % 2 == 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_download_is_shown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal."""
    publish(monkeypatch, f"{server.address}/sound/w.bin", md5=(MD5,))
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    run(["models", "--download", NAME])
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "\rw.bin: " in shown


@pytest.mark.parametrize("option", ["--download", "--remove"])
def test_unknown_names(option: str) -> None:
    with pytest.raises(InputError, match="no published model .*nearest: elmo-original"):
        run(["models", option, "elmo-orginal"])
    with pytest.raises(InputError, match="no text with --download or --remove"):
        run(["models", "x", option, NAME])


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys).splitlines()
    assert lines[0].split()[:4] == ["NAME", "LANGUAGE", "DIM", "DOMAIN"]
    assert len(lines) == len(MODELS) + 3
    assert lines[-1].startswith("* in the cache, ")
    assert max(map(len, lines[:-1])) <= 80 - len(" *")
    original = [line for line in lines if line.startswith("elmo-original ")][0]
    for part in ("English", "1024", "news"):
        assert f"  {part}" in original
    german = printed(capsys, "german").splitlines()[1:-1]
    assert [line.split()[0] for line in german] == ["manylangs-german", "nlpl-201"]
    for name in ("manylangs-latin", "nlpl-162", "NLPL-162"):
        shown = printed(capsys, name)
        assert "also named: nlpl-162" in shown
        assert "licence: MIT, see https://" in shown
    assert "licence: not stated by the publisher" in printed(capsys, "nlpl-218")
    with pytest.raises(InputError, match="expected a part of a model's name, lang"):
        run(["models", "klingon"])


@pytest.mark.parametrize("text", ["", "bundled", "BUND", "reviews"])
def test_the_bundled_model_is_in_the_list(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(capsys, *[text] * bool(text)).splitlines()
    assert lines[1].startswith("bundled  ")
    for part in ("English", "novels, ...", "320"):
        assert f"  {part}" in lines[1]
    if text:
        shown = "\n".join(lines)
        assert "licence: as NOTICE says, see https://" in shown
        assert "fixtures/bilm/weights.hdf5" in shown and "parameters: 5.1" in shown
        assert "\nsize: 7 MB\n" in shown and "\ncomes with the package\n" in shown


@pytest.mark.parametrize("option", ["--download", "--remove"])
def test_the_bundled_model_is_not_in_the_cache(option: str) -> None:
    with pytest.raises(InputError, match="bundled: it comes with the package"):
        run(["models", option, "bundled"])


def test_seqvec(capsys: pytest.CaptureFixture[str]) -> None:
    model = MODELS["seqvec"]
    assert model.is_bilm and model.dimension == 1024 and model.domain == "proteins"
    options, weights = model.md5
    assert options.startswith("cede3551") and weights.startswith("0249d592")
    assert model.md5_of(model.files[1]) == weights
    assert f"md5 {weights}, as published" in printed(capsys, "proteins")


@pytest.mark.parametrize("name", MODELS)
def test_what_is_known_of_a_model(name: str) -> None:
    model = MODELS[name]
    assert model.language and model.text and model.source in ("bilm", "manylangs")
    assert len(model.md5) in (0, len(model.files))
    for md5 in model.md5:
        assert len(md5) == 32
    if model.licence != NOT_STATED:
        assert model.licence.said_at.startswith("https://")


def test_numbers_of_the_nlpl_repository() -> None:
    numbers = [name for name in (*MODELS, *ALIASES) if name.startswith("nlpl-")]
    assert len(numbers) == len(set(numbers)) == 44 + 12
    for name in numbers:
        model = published(name)
        assert model is not None
        assert model.files[0].endswith(f"/{name.removeprefix('nlpl-')}.zip")
    assert published("nlpl-1") is None and published("162") is None
    assert nearest_model("nlpl-163x") == "nlpl-163" and nearest_model("?") is None
