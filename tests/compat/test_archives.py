"""Archives that are damaged, unsafe, or do not match the overrides."""

import io
import tarfile
import tempfile
from pathlib import Path

import pytest
from allennlp.models import load_archive

from elmo_tasks.errors import InputError
from tests.archives.make import STORED

SOUND = STORED / "1" / "sst.tar.gz"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def rewritten(folder: Path, *, without: str = "", changes: dict[str, bytes | None] | None = None) -> Path:
    """The archive with members removed, replaced or added; `None` is a folder."""
    made = folder / "model.tar.gz"
    with tarfile.open(SOUND) as sound, tarfile.open(made, "w:gz") as archive:
        for member in sound.getmembers():
            top = member.name.split("/")[0]
            if member.isfile() and member.name != without and top not in (changes or {}):
                archive.addfile(member, sound.extractfile(member))
        for name, content in (changes or {}).items():
            member = tarfile.TarInfo(name)
            member.size = len(content or b"")
            member.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            member.mode = 0o755
            archive.addfile(member, io.BytesIO(content or b""))
    return made


@pytest.mark.parametrize("share", [0.0, 0.99])
def test_truncated(share: float, temporary: Path, tmp_path: Path) -> None:
    truncated = tmp_path / "model.tar.gz"
    whole = SOUND.read_bytes()
    truncated.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(InputError, match=r"model\.tar\.gz: the archive cannot be unpacked: .* \(`tar tzf` lists"):
        load_archive(truncated)
    assert not list(temporary.iterdir())


def test_missing_member(temporary: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"model\.tar\.gz: the archive lacks weights.th"):
        load_archive(rewritten(tmp_path, without="weights.th"))
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("weights.th", None, "the archive lacks weights.th"),
        ("vocabulary", b"", "the archive lacks vocabulary"),
        ("config.json", b"{", "the archive's config.json is damaged: Expecting"),
        ("config.json", b"[]", "the archive's config.json has no object 'model'"),
        ("meta.json", None, "the archive's meta.json is damaged: .* Is a directory"),
        ("meta.json", b"[]", "the archive's meta.json is damaged: .* must be a mapping"),
    ],
)
def test_invalid_member(name: str, content: bytes | None, message: str, temporary: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"model\.tar\.gz: {message}"):
        load_archive(rewritten(tmp_path, changes={name: content}))
    assert not list(temporary.iterdir())


def test_decompression_bomb_is_not_unpacked(temporary: Path, tmp_path: Path) -> None:
    archive = rewritten(tmp_path, changes={"weights.th": bytes(2**26 + 1)})
    with pytest.raises(InputError, match=r"model\.tar\.gz: the archive unpacks to more than 100 times its size"):
        load_archive(archive)
    assert not list(temporary.iterdir())


def test_nothing_is_unpacked_outside_of_the_folder(temporary: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the archive cannot be unpacked: .*outside the destination"):
        load_archive(rewritten(tmp_path, changes={"../escaped": b"x"}))
    assert not list(temporary.iterdir())


def test_override_of_a_wrong_type() -> None:
    with pytest.raises(
        InputError, match="no model can be built from the archive's configuration: TypeError: .*input_dropout.* numeric"
    ):
        load_archive(SOUND, overrides='{"model.input_dropout": "x"}')


def test_override_that_does_not_match_the_weights() -> None:
    with pytest.raises(InputError, match=r"the weights do not fit .*: size mismatch for .* \(overrides .* ELMo"):
        load_archive(SOUND, overrides='{"model.elmo.at": "input"}')
