"""Archives that are damaged, unsafe, or do not match the overrides."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from allennlp.models import load_archive

from elmo_tasks.errors import InputError
from tests.fuzz.subjects import ARCHIVE as SOUND
from tests.fuzz.subjects import with_member

DATA = SOUND.read_bytes()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (b"", "the archive cannot be unpacked: "),
        (DATA[: len(DATA) * 99 // 100], "the archive cannot be unpacked: "),
        (("weights.th", None), "the archive lacks weights.th"),
        (("vocabulary", b""), "the archive lacks vocabulary"),
        (("meta.json", b"[]"), "the archive's meta.json is damaged: .* must be a mapping"),
        (("weights.th", bytes(2**26 + 1)), "the file unpacks to more than 100 times its size"),
    ],
)
def test_invalid_archive_is_not_unpacked(archive: Any, message: str, temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "model.tar.gz").write_bytes(archive if isinstance(archive, bytes) else with_member(*archive))
    with pytest.raises(InputError, match=rf"model\.tar\.gz: {message}"):
        load_archive(tmp_path / "model.tar.gz")
    assert not list(temporary.iterdir()) and not (tmp_path / "escaped").exists()


def test_truncated_weights_below_64_kb(tmp_path: Path) -> None:
    (tmp_path / "model.tar.gz").write_bytes(with_member("weights.th", b"PK\3\4" + bytes(9999)))
    with pytest.raises(InputError, match=r"the archive's weights\.th is damaged: "):
        load_archive(tmp_path / "model.tar.gz")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"model.input_dropout": "x"}, "no model can be built .*: TypeError: .*input_dropout.* numeric"),
        ({"model.elmo.at": "input"}, r"the weights do not fit .*: size mismatch for .* \(overrides .* ELMo"),
    ],
)
def test_override_that_does_not_fit(overrides: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_archive(SOUND, overrides=json.dumps(overrides))
