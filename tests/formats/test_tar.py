"""Members of tar files: names and sizes of all formats, limits, damage."""

import io
import tarfile
from collections.abc import Iterable

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.tar import is_tar, tar_members, without_owner

BLOCK = 512


def header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    info.type = kind
    return info.tobuf(tarfile.USTAR_FORMAT)


def member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE) -> bytes:
    return header(name, len(content), kind) + content + bytes(-len(content) % BLOCK)


def record(key: bytes, value: bytes) -> bytes:
    """A line `LENGTH KEY=VALUE` of a pax header."""
    rest = b" " + key + b"=" + value + b"\n"
    length = len(rest)
    while len(b"%d" % length + rest) != length:
        length += 1
    return b"%d" % length + rest


def pax(*pairs: tuple[bytes, bytes], kind: bytes = b"x") -> bytes:
    lines = [record(key, value) for key, value in pairs]
    return member("about", b"".join(lines), kind)


def read(*parts: bytes) -> list[tuple[str, bytes]]:
    stream = io.BytesIO(b"".join(parts) + bytes(2 * BLOCK))
    return [(name, b"".join(parts)) for name, parts in tar_members(stream, "a.tar")]


@pytest.mark.parametrize(
    "format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
)
def test_formats(format_: int) -> None:
    names = ["a", "b/c", "x" * 90, "ä" * 30 if format_ != tarfile.USTAR_FORMAT else "d"]
    if format_ != tarfile.USTAR_FORMAT:
        names += ["y" * 200, "long/" * 100 + "z"]
    contents = [b"", b"1", b"2" * 511, b"3" * 512, b"4" * 513, b"5" * 3000]
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format_) as archive:
        for name, content in zip(names, contents, strict=False):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
    expected = list(zip(names, contents, strict=False))
    assert read(out.getvalue()) == expected


def test_contents_that_are_not_read_are_skipped() -> None:
    data = member("a", b"x" * 700) + member("b", b"y" * 2**20) + member("c", b"z")
    members = tar_members(io.BytesIO(data), "a.tar")
    assert [name for name, _ in members] == ["a", "b", "c"]
    members = tar_members(io.BytesIO(data), "a.tar")
    found = []
    for name, content in members:
        next(content)
        found.append(name)
    assert found == ["a", "b", "c"]


def test_contents_come_in_parts_of_a_megabyte() -> None:
    data = member("a", bytes(2**21 + 5))
    _, content = next(tar_members(io.BytesIO(data), "a.tar"))
    assert [len(part) for part in content] == [2**20, 2**20, 5]


def test_names() -> None:
    found = read(
        member("./a", b"1"),
        member("././b", b"2"),
        pax((b"path", b"./long"), (b"mtime", b"1.5")) + member("short", b"3"),
        member("after", b"4"),
        member("", b"gnu\0", b"L") + member("short", b"5"),
        member("", b"target\0", b"K") + member("kept", b"6"),
        pax((b"comment", b"of all"), kind=b"g") + member("f", b"7"),
        member("old", b"8", tarfile.AREGTYPE),
        member("contiguous", b"9", tarfile.CONTTYPE),
    )
    expected = ["a", "./b", "long", "after", "gnu", "kept", "f", "old", "contiguous"]
    assert [name for name, _ in found] == expected
    assert b"".join(content for _, content in found) == b"123456789"


def test_sizes_of_extension_headers() -> None:
    content = b"x" * 700 + bytes(-700 % BLOCK)
    found = read(pax((b"size", b"700")), header("a", 3), content, member("b", b"y"))
    assert found == [("a", b"x" * 700), ("b", b"y")]


@pytest.mark.parametrize(
    "records",
    [
        b"x path=a\n",
        b"path=a\n",
        b"11 path=a\n",
        b"8 path=a\n",
        b"10 path_a\n\n",
        b"10 path_a\n",
        b"9 path=ab",
        b"99 path=a\n",
        b"-9 path=a\n",
        b"00000000000000000000000009 path=a\n",
        record(b"size", b"x"),
        record(b"size", b"-1"),
        record(b"size", b"1" * 20),
        record(b"GNU.sparse.major", b"1"),
    ],
)
def test_damaged_extension_headers(records: bytes) -> None:
    with pytest.raises(ValueError, match="damaged|sparse"):
        read(member("about", records, b"x"), member("a"))


def test_records_end_at_a_zero() -> None:
    records = record(b"path", b"long") + b"\0" * 20 + b"rest"
    assert read(member("about", records, b"x"), member("a")) == [("long", b"")]
    size = record(b"size", b"0" * 18 + b"2")
    content = b"xy" + bytes(BLOCK - 2)
    found = read(member("about", size, b"X"), header("a", 9), content)
    assert found == [("a", b"xy")]


@pytest.mark.parametrize("key", [b"path", b"size"])
def test_global_names_and_sizes_are_refused(key: bytes) -> None:
    with pytest.raises(ValueError, match="expected each header to describe one file"):
        read(pax((key, b"1"), kind=b"g"), member("a"))


def test_the_longest_name() -> None:
    long = b"x" * 1024
    assert read(pax((b"path", long)), member("a")) == [(long.decode(), b"")]
    for name in (long + b"x", b"a\0b"):
        problem = "a.tar: expected names of at most 1,024 characters in the archive"
        with pytest.raises(InputError, match=problem) as caught:
            read(pax((b"path", name)), member("a"))
        assert len(str(caught.value)) < 300


def test_the_longest_extension_header() -> None:
    assert read(member("", b"\0" * 2**16, b"K"), member("a")) == [("a", b"")]
    with pytest.raises(InputError, match="headers of at most 65,536 bytes, got one of"):
        read(member("", b"\0" * (2**16 + 1), b"K"), member("a"))


def test_extension_headers_of_four_megabytes_together() -> None:
    one = member("", b"\0" * (2**16 - BLOCK), b"K")  # 64 KB with its header
    assert read(one * 64, member("a")) == [("a", b"")]
    with pytest.raises(
        InputError, match="headers of at most 4,194,304 bytes, got more"
    ):
        read(one * 64, member("", b"", b"K"), member("a"))


def test_ten_thousand_members() -> None:
    """Folders count, extension headers do not."""
    folder = member("f", kind=tarfile.DIRTYPE)
    many = folder * 9_999 + pax((b"comment", b"x")) + member("a")
    assert read(many) == [("a", b"")]
    with pytest.raises(InputError, match="at most 10,000 files and folders .* got 'b'"):
        read(many, member("b"))


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, b"S", b"?"],
)
def test_other_members(kind: bytes) -> None:
    with pytest.raises(InputError, match="no links and devices, got 'b' .`tar tzf`"):
        read(member("a"), member("b", kind=kind))


def truncated(size: int) -> Iterable[tuple[str, Iterable[bytes]]]:
    return tar_members(io.BytesIO(member("a", b"x" * 600)[:size]), "a.tar")


def test_truncated_files() -> None:
    with pytest.raises(EOFError, match="it has no members"):
        read()
    for size in (BLOCK, BLOCK + 1, BLOCK + 599):
        with pytest.raises(EOFError, match="it ends inside a file"):
            for _, content in truncated(size):
                list(content)
    assert [list(content) for _, content in truncated(BLOCK + 600)] == [[b"x" * 600]]
    with pytest.raises(tarfile.HeaderError):
        list(truncated(100))


def test_negative_sizes() -> None:
    negative = b"\xff" * 12  # -1 in base 256
    for kind, problem in ((b"0", "at least 0, got -1"), (b"L", "bytes, got one of -1")):
        block = bytearray(header("a", kind=kind))
        block[124:136] = negative
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block)
        with pytest.raises(ValueError, match=problem):
            read(bytes(block), member("b"))


def test_what_is_a_tar_file() -> None:
    data = member("a", b"x")
    assert is_tar(data) and is_tar(data[:BLOCK])
    damaged = b"b" + data[1:]  # another checksum
    for start in (data[: BLOCK - 1], damaged, bytes(BLOCK), b"PK\x03\x04", b""):
        assert not is_tar(start)


def test_owners_are_left_out() -> None:
    info = tarfile.TarInfo("a")
    info.uid = info.gid = 1000
    info.uname = info.gname = "ann"
    info.mode = 0o600
    found = without_owner(info)
    assert (found.uid, found.gid, found.uname, found.gname) == (0, 0, "", "")
    assert (found.name, found.mode) == ("a", 0o600)
