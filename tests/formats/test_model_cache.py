"""The published models: what is known of them, and what the cache has of them."""

from pathlib import Path

import pytest

from elmo_tasks.cli.main import run
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.fetch import local_path
from elmo_tasks.formats.fetching.published import (
    MODELS,
    PublishedModel,
    nearest_model,
    published,
    published_at,
)
from tests.elmo.samples import write_bilm
from tests.web_server import MD5, SHA256, Server, cache, server

__all__ = ["cache", "server"]

NAME = "elmo-small"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run(["models", *arguments])
    return capsys.readouterr().out


def test_the_card_of_a_published_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its publisher says stands in the card, unless something else is said."""
    model = PublishedModel("English", "news", write_bilm(tmp_path), licence="MIT")
    monkeypatch.setitem(MODELS, NAME, model)
    elmo = Elmo.from_pretrained(NAME, device="cpu")
    elmo.save_pretrained(tmp_path / "a")
    elmo.save_pretrained(tmp_path / "b", license="cc0-1.0", text="letters")
    first, second = [(tmp_path / name / "README.md").read_text() for name in "ab"]
    for line in ("| language | English |", "| text | news |", "| licence | MIT |"):
        assert line in first
    for line in ("| text | letters |", "| licence | cc0-1.0 |"):
        assert line in second


def test_a_model_is_downloaded(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = [f"{server.address}/sound/o.bin", f"{server.address}/packed/1.zip"]
    monkeypatch.setitem(
        MODELS, NAME, PublishedModel("English", "news", files, md5=[MD5])
    )
    assert f"{files[0]}, md5 {MD5}, in the cache: no" in printed(capsys, NAME)
    path = local_path(files[0])
    assert f"{NAME} *" not in printed(capsys, NAME)
    shown = printed(capsys, "--download", NAME)
    assert f"sha256: {SHA256}" in shown and f"md5 {MD5}" in shown
    shown = printed(capsys, NAME)
    assert f"{NAME} *" in shown and f"in the cache: {path}" in shown


def test_unknown_names() -> None:
    with pytest.raises(InputError, match="no published model .*nearest: elmo-original"):
        run(["models", "--download", "elmo-orginal"])
    with pytest.raises(InputError, match="no text with --download"):
        run(["models", "x", "--download", NAME])
    with pytest.raises(InputError, match="bundled: it comes with the package"):
        run(["models", "--download", "bundled"])


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys).splitlines()
    assert lines[0].split()[:4] == ["NAME", "LANGUAGE", "DIM", "DOMAIN"]
    assert lines[1].split()[:3] == ["bundled", "English", "320"]
    assert len(lines) == len(MODELS) + 3
    assert max(map(len, lines[:-1])) <= 80
    german = printed(capsys, "german").splitlines()[1:-1]
    assert [line.split()[0] for line in german] == ["manylangs-german", "nlpl-201"]
    for name in ("manylangs-latin", "nlpl-162", "NLPL-162"):
        shown = printed(capsys, name)
        assert "aliases: nlpl-162" in shown
        assert "licence: MIT\nlicence_page: https://" in shown
    assert "licence: not stated" in printed(capsys, "nlpl-218")
    assert "millions: 5.1" in printed(capsys, "bundled")
    with pytest.raises(InputError, match="expected a part of a model's name, lang"):
        run(["models", "klingon"])


NAMES = {
    "elmo-original": "2x4096_512_2048cnn_2xhighway_options.json",
    "elmo-5.5b": "2x4096_512_2048cnn_2xhighway_5.5B_weights.hdf5",
    "elmo-pubmed": "2x4096_512_2048cnn_2xhighway_weights_PubMed_only.hdf5",
    "seqvec": "/embedding_models/seqvec/weights.hdf5",
    "manylangs-old-church-slavonic": "/11/140.zip",
    "nlpl-165": "/11/165.zip",
    "manylangs-norwegian-bokmal": "/11/165.zip",
    "nlpl-209": "/20/209.zip",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_of_the_model_that_it_was(name: str) -> None:
    model = published(name)
    assert model is not None
    (file,) = [file for file in model.files if file.endswith(NAMES[name])]
    assert published_at(file) is model


def test_what_is_known_of_all_models() -> None:
    numbers = []
    for name, model in MODELS.items():
        assert model.language and model.text and model.source in ("bilm", "manylangs")
        assert len(model.md5) in (0, len(model.files))
        assert (model.licence is None) == (model.licence_page is None)
        numbers += [one for one in (name, *model.aliases) if one.startswith("nlpl-")]
    assert len(numbers) == len(set(numbers)) == 44 + 12
    assert published("nlpl-1") is None and published("162") is None
    assert nearest_model("nlpl-163x") == "nlpl-163" and nearest_model("?") is None
