"""An installed package that opens archives of classes which are not of this one."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.training.archives.info import describe
from elmo_tasks.training.archives.loading import load_archive
from elmo_tasks.training.archives.opener import registered_opener
from tests.fuzz.subjects import ARCHIVE as OURS
from tests.fuzz.subjects import with_member

CODE = """
from elmo_tasks.errors import InputError

def load(folder, config, weights, **options):
    raise InputError(f"{config['model']['type']} {sorted(options)}", file=weights.name)

def needs(folder, config, weights, predictor):
    return [{"what": "a model", "name": predictor, "found": None, "advice": "buy it"}]
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """It is installed in a folder of its own."""
    about = tmp_path / "some_opener-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: some-opener\n")
    points = "[elmo_tasks.archive_openers]\nsome = some_opener\n"
    (about / "entry_points.txt").write_text(points)
    (tmp_path / "some_opener.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    registered_opener.cache_clear()
    yield
    registered_opener.cache_clear()


def other(folder: Path, **model: Any) -> Path:
    """An archive of AllenNLP's tagger."""
    config = {
        "dataset_reader": {"type": "sequence_tagging"},
        "model": {"type": "simple_tagger", **model},
    }
    file = folder / "model.tar.gz"
    file.write_bytes(with_member("config.json", json.dumps(config).encode()))
    return file


@pytest.mark.usefixtures("package")
def test_it_opens_archives_of_other_classes_alone(tmp_path: Path) -> None:
    file = other(tmp_path)
    expected = r"weights.th: simple_tagger \['allow_downloads', 'cuda_device', 'file'\]"
    with pytest.raises(InputError, match=expected):
        load_archive(file)
    (need,) = describe(file)["needs"]
    assert (need["name"], need["advice"]) == ("sentence_tagger", "buy it")
    assert load_archive(OURS).config["model"]["type"] == "elmo_tasks_sst"
    assert "buy it" not in json.dumps(describe(OURS))


@pytest.mark.usefixtures("package")
def test_a_class_that_it_does_not_register(tmp_path: Path) -> None:
    with pytest.raises(InputError) as got:
        load_archive(other(tmp_path, type="no_tagger"))
    assert "'no_tagger' is not registered (--include-package" in str(got.value)


def test_without_it_what_is_outside_of_the_archive_is_named(tmp_path: Path) -> None:
    embedders = {"words": {"type": "embedding"}, "elmo": "elmo_token_embedder"}
    file = other(tmp_path, text_field_embedder={"token_embedders": embedders})
    with pytest.raises(InputError, match="does not contain: elmo_token_embedder "):
        load_archive(file)
    (need,) = describe(file)["needs"]
    assert need["name"] == "elmo_token_embedder"
