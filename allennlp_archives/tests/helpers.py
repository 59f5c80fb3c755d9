"""What the tests of old archives have in common."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from allennlp.models.archival import Archive

from elmo_tasks.cli.info import lines_of_archive
from elmo_tasks.training.archives.info import describe
from elmo_tasks.training.archives.loading import load_archive
from families import FAMILIES, OF_TRANSFORMERS
from tests.comparison import assert_same
from tests.fuzz.subjects import with_member


class Trained(NamedTuple):
    """A run of AllenNLP, and what AllenNLP's own code predicts and scores with it."""

    folder: Path
    corpus: Path
    predictions: list[dict[str, Any]]
    scores: dict[str, Any]

    @property
    def archive(self) -> Path:
        return self.folder / "model.tar.gz"


def given(name: str, place: Path) -> dict[str, str]:
    """Where the family's transformer is."""
    if name not in OF_TRANSFORMERS:
        return {}
    transformer = OF_TRANSFORMERS[name]
    return {transformer: str(place / transformer)}


@contextmanager
def local(paths: Mapping[str, object]) -> Iterator[None]:
    """Inside, paths of this machine stand for names."""
    texts = {name: str(path) for name, path in paths.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALLENNLP_ARCHIVES_LOCAL", json.dumps(texts))
        yield


def opened(archive: Path, paths: Mapping[str, object]) -> Archive:
    """The archive, with paths of this machine for names in its config."""
    with local(paths):
        return load_archive(archive)


def described(archive: Path, paths: Mapping[str, object]) -> list[str]:
    """The lines of `elmo-tasks info`."""
    with local(paths):
        return lines_of_archive(describe(archive))


def write_lines(name: str, file: Path) -> Path:
    lines = [json.dumps(line) + "\n" for line in FAMILIES[name].lines]
    file.write_text("".join(lines))
    return file


def assert_alike(found: Any, expected: Any) -> None:
    """The same JSON, but for rounding."""
    assert_same(found, expected, atol=1e-6)


def changed(archive: Path, changes: Callable[[str], str], target: Path) -> Path:
    """A copy of an archive with another text in its config."""
    config = changes((archive.parent / "config.json").read_text())
    target.write_bytes(with_member("config.json", config.encode(), archive))
    return target
