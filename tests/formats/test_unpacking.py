"""Hostile archives and compressed files: nothing is written elsewhere, and little memory and time is used."""

import io
import os
import tarfile
import time
from collections.abc import Iterable
from pathlib import Path

import pyarrow
import pytest

from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.formats.unpacking import unpack
from elmo_tasks.run_names import ARCHIVED
from tests.memory import grown
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
    """CVE-2025-4517: a path of links that is too long for `os.path.realpath` leads out of the folder."""
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
        match=r"a\.tar\.gz: (expected at most 10,000 files|the archive cannot)",
    ):
        unpack(
            tmp_path / "a.tar.gz",
            tmp_path / "inside",
            ARCHIVED,
            file=tmp_path / "a.tar.gz",
        )
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["there"]
    assert not [path for path in (tmp_path / "inside").rglob("*") if not path.is_dir()]


@pytest.mark.parametrize("compression", ["gz", ""])
def test_known_names_are_unpacked_and_no_others(
    compression: str, tmp_path: Path
) -> None:
    known = ("config.json", "./best.th", "vocabulary/labels.txt")
    unknown = (
        "../escaped.th",
        "/tmp/escaped.th",
        "vocabulary/../../escaped",
        "vocabulary/a/b",
        "conftest.py",
    )
    (tmp_path / "a").write_bytes(
        packed([member(name, b"x") for name in (*known, *unknown)], f"w:{compression}")
    )
    unpack(tmp_path / "a", tmp_path / "to/here", ARCHIVED, file="a")
    found = sorted(
        str(path.relative_to(tmp_path / "to"))
        for path in (tmp_path / "to").rglob("*")
        if path.is_file()
    )
    assert found == ["here/best.th", "here/config.json", "here/vocabulary/labels.txt"]


@pytest.mark.slow
def test_many_members_need_little(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(packed(member("vocabulary/x") for _ in range(40_000)))
    began = time.process_time()
    with grown() as memory, pytest.raises(InputError, match="a: expected"):
        unpack(tmp_path / "a", tmp_path / "to", ARCHIVED, file="a")
    assert memory[0] < 2**25 and time.process_time() - began < 4


@pytest.mark.parametrize(
    "text", [b"word " * 2**25, b"word\n" * 2**25], ids=["one line", "lines"]
)
def test_zstd_bombs_need_little(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.zst").write_bytes(pyarrow.compress(text, codec="zstd", asbytes=True))
    with (
        grown() as memory,
        pytest.raises(
            InputError, match=r"a\.zst: the file unpacks to more than 100 times"
        ),
    ):
        for _ in open_text(tmp_path / "a.zst", longest=None):
            pass
    assert memory[0] < 2**26


def test_pipes_and_devices_are_refused_but_for_standard_input(tmp_path: Path) -> None:
    require_path("/dev/zero", "/dev/fd")
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(
            InputError, match="expected a regular file, got a pipe or a device"
        ):
            list(open_text(file))
    (tmp_path / "x.index").symlink_to("pipe")
    with pytest.raises(InputError, match="expected a regular file"):
        unpack(tmp_path / "pipe", tmp_path, ARCHIVED, file="a")
    with pytest.raises(InputError, match="expected a regular file"):
        BiLMOptions.from_file(tmp_path / "pipe")
    reading, writing = os.pipe()
    os.write(writing, b"a\nb\n")
    os.close(writing)
    assert [line for _, line in open_text(f"/dev/fd/{reading}")] == ["a", "b"]
