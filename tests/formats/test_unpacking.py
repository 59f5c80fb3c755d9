"""
Hostile archives and compressed files: nothing is written elsewhere, and little memory
and time is used.
"""

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.formats.tensor_files import load_tensors
from elmo_tasks.formats.text.text_files import open_text
from elmo_tasks.formats.unpacking import unpack, unzip
from elmo_tasks.system.run_names import ARCHIVED
from tests.system import require_path


def member(
    name: str, content: bytes = b"", **fields: object
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def packed(
    members: Iterable[tuple[tarfile.TarInfo, bytes]], mode: str = "w:gz"
) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=tarfile.GNU_FORMAT) as archive:  # type: ignore[call-overload]
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def chain_of_links() -> list[tuple[tarfile.TarInfo, bytes]]:
    """
    CVE-2025-4517: a path of links that is too long for `os.path.realpath` leads out of
    the folder.
    """
    long, links, place = "d" * 247, [], ""
    for letter in "abcdefghijklmnop":
        links.append(member(f"{place}{long}", type=tarfile.DIRTYPE))
        links.append(member(f"{place}{letter}", type=tarfile.SYMTYPE, linkname=long))
        place += f"{long}/"
    through = "/".join("abcdefghijklmnop") + "/" + "l" * 254
    links.append(member(through, type=tarfile.SYMTYPE, linkname="../" * 16))
    links.append(
        member("vocabulary", type=tarfile.SYMTYPE, linkname=f"{through}/../outside")
    )
    return [*links, member("vocabulary/escaped", b"x")]


@pytest.mark.parametrize(
    "members",
    [
        chain_of_links(),
        [
            member("vocabulary", type=tarfile.SYMTYPE, linkname="../outside"),
            member("vocabulary/escaped", b"x"),
        ],
        [member("config.json", type=tarfile.LNKTYPE, linkname="../outside/there")],
        [member("config.json", type=tarfile.FIFOTYPE)],
        [member("weights.th", type=tarfile.CHRTYPE, devmajor=1, devminor=5)],
        [member("weights.th", type=tarfile.GNUTYPE_SPARSE)],
    ],
    ids=["CVE-2025-4517", "link", "hard link", "FIFO", "device", "sparse"],
)
def test_links_and_devices_are_refused(
    members: list[tuple[tarfile.TarInfo, bytes]], tmp_path: Path
) -> None:
    for name in ("inside", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "outside/there").write_text("secret")
    (tmp_path / "a.tar.gz").write_bytes(packed(members))
    with pytest.raises(
        InputError,
        match=r"a\.tar\.gz: (expected files and folders|the archive cannot)",
    ):
        unpack(
            tmp_path / "a.tar.gz",
            tmp_path / "inside",
            ARCHIVED,
        )
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["there"]
    assert not [path for path in (tmp_path / "inside").rglob("*") if not path.is_dir()]


@pytest.mark.parametrize("mode", ["w:gz", "w:"])
def test_known_names_are_unpacked_and_no_others(mode: str, tmp_path: Path) -> None:
    names = ["config.json", "./best.th", "vocabulary/labels.txt"]
    names += ["../escaped.th", "/tmp/escaped.th", "vocabulary/../../escaped"]
    names += ["vocabulary/a/b", "conftest.py"]
    (tmp_path / "a").write_bytes(packed([member(name, b"x") for name in names], mode))
    unpack(tmp_path / "a", tmp_path / "to/here", ARCHIVED)
    found = [path for path in (tmp_path / "to").rglob("*") if path.is_file()]
    here = tmp_path / "to/here"
    assert set(found) == {here / name for name in names[:3]}


def test_pipes_and_devices_are_refused_but_for_standard_input(tmp_path: Path) -> None:
    require_path("/dev/zero", "/dev/fd")
    os.mkfifo(tmp_path / "pipe")
    problem = "expected a regular file, got a pipe or a device"
    for file in (tmp_path / "pipe", Path("/dev/zero")):
        for read in (
            lambda path: list(open_text(path)),
            lambda path: read_json(path, "the options"),
            lambda path: unpack(path, tmp_path, ["*"]),
            lambda path: unzip(path, tmp_path),
            load_tensors,
        ):
            with pytest.raises(InputError, match=problem):
                read(file)
    reading, writing = os.pipe()
    os.write(writing, b"a\nb\n")
    os.close(writing)
    assert [line for _, line in open_text(f"/dev/fd/{reading}")] == ["a", "b"]


def zipped(
    file: Path, names: Iterable[str], method: int = zipfile.ZIP_DEFLATED
) -> Path:
    with zipfile.ZipFile(file, "w", method) as archive:
        for name in names:
            archive.writestr(name, name)
    return file


def test_members_of_a_zip(tmp_path: Path) -> None:
    names = ["a.json", "x/", "x/b.json", "../c", ".hidden.json", "x/.d.json"]
    (tmp_path / "out").mkdir()
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        unzip(zipped(tmp_path / "z", names, method), tmp_path / "out")
        found = {}
        for path in (tmp_path / "out").iterdir():
            found[path.name] = path.read_text()
            path.unlink()
        assert found == {"a.json": "a.json", "b.json": "x/b.json", "c": "../c"}
    assert not (tmp_path / "c").exists()


def test_two_members_of_a_name(tmp_path: Path) -> None:
    """That of a part of the model, as sentence-transformers have, is in more folders."""
    (tmp_path / "out").mkdir()
    unzip(zipped(tmp_path / "z", ["m/x/a.json", "m/a.json"]), tmp_path / "out")
    assert (tmp_path / "out" / "a.json").read_text() == "m/a.json"
    with pytest.raises(InputError, match="z: the ZIP has two members named a.json$"):
        unzip(zipped(tmp_path / "z", ["y/a.json", "x/a.json"]), tmp_path)


def test_damaged_zips(tmp_path: Path) -> None:
    file = zipped(tmp_path / "z", ["a.json"], zipfile.ZIP_STORED)
    content = bytearray(file.read_bytes())
    content[content.index(b"a.jsona") + 7] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(InputError, match="z: the ZIP cannot .*copy or download it aga"):
        unzip(file, tmp_path)


def test_a_zip_within_the_ratio(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "z", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", bytes(2**26 + 1))
    with pytest.raises(InputError, match="z: the file unpacks to more than 100 times"):
        unzip(tmp_path / "z", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["z"]


def test_archives_are_read_to_their_end(tmp_path: Path) -> None:
    """So that the checksum of gzip is compared."""
    content = bytearray(packed([member("config.json", b"x")]))
    content[-8] ^= 0xFF
    file = tmp_path / "a"
    file.write_bytes(content)
    with pytest.raises(InputError, match="a: the archive cannot be unpacked: CRC"):
        unpack(file, tmp_path / "to", ARCHIVED)
    file.write_bytes(content[:-9])
    with pytest.raises(InputError, match="a: the archive cannot .*`tar tzf` lists its"):
        unpack(file, tmp_path / "to", ARCHIVED)


def test_archives_that_unpack_to_little_may_have_any_ratio(tmp_path: Path) -> None:
    small = packed([member("config.json", bytes(2**22))])
    assert len(small) * 100 < 2**22
    (tmp_path / "a").write_bytes(small)
    unpack(tmp_path / "a", tmp_path, ARCHIVED)
    assert (tmp_path / "config.json").stat().st_size == 2**22
    large = gzip.compress(packed([member("config.json", bytes(2**26))], "w:"), 1)
    (tmp_path / "a").write_bytes(large)
    with pytest.raises(InputError, match="a: the file unpacks to more than 100 times"):
        unpack(tmp_path / "a", tmp_path, ARCHIVED)
