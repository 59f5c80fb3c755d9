"""Text files: paths, line ends, limits, errors."""

import bz2
import gzip
import lzma
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.text_files import (
    decode_line,
    lines_of,
    list_files,
    not_empty,
    open_binary,
    open_text,
    without_mark,
)
from tests.system import require_path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.txt"


def lines(file: Path | str, **options: object) -> list[tuple[int, str]]:
    return list(open_text(file, **options))  # type: ignore[arg-type]


@given(
    st.lists(st.text("ab \t\x0b\u2028\x85", max_size=4), max_size=6),
    st.sampled_from(["\n", "\r\n", "\r\r\n", "\r"]),
    st.booleans(),
)
def test_lines_of_one_kind_of_end(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], end: str, is_last: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / "lines.txt"
    content = end.join(texts)
    if is_last and texts:
        content += end
    file.write_bytes(content.encode())
    expected = content.split(end)
    if expected[-1] == "":
        expected.pop()
    found = [line for _, line in open_text(file)]
    if end == "\r":  # of several at the end of a file, one counts
        while expected and not expected[-1]:
            expected.pop()
        while found and not found[-1]:
            found.pop()
    assert found == expected


def test_the_longest_line(file: Path) -> None:
    file.write_text("ééé")
    assert lines(file, longest=3) == [(1, "ééé")]
    file.write_text("a\néééé")
    problem = "x.txt:2: expected lines of at most 3 .*, got one of 4 .*line breaks"
    with pytest.raises(InputError, match=problem):
        lines(file, longest=3)
    file.write_text(f"a\r{'é' * 2**20}\r\nb\n")
    assert len(lines(file)) == len(lines(file, longest=None)) == 3


def test_marks(file: Path) -> None:
    file.write_text("\ufeff\ufeffa\n\ufeffb\ufeff\n")
    assert lines(file) == [(1, "a"), (2, "b\ufeff")]
    assert lines(file, keep_marks=True) == [(1, "a"), (2, "\ufeffb\ufeff")]
    for line, expected in (
        ("\ufeffa", "a"),
        ("\ufeff\ufeffa", "a"),
        ("\ufeff a", "\ufeff a"),
        ("\ufeff\ta", "\ufeff\ta"),
        ("\ufeff", ""),
        (" a", " a"),
        ("a\ufeff", "a\ufeff"),
    ):
        assert without_mark(line) == expected


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a\n\xc3(\n", "2: expected UTF-8 text, got 0xc3 as byte 1 of the line"),
        (b"a\nb\xff\n", "2: expected UTF-8 text, got 0xff as byte 2 .*iconv -f latin1"),
        (b"a\nb\0\n", "2: expected text, got binary data .a NUL byte"),
        ("a\n".encode("utf-16"), "1: expected UTF-8 text, got UTF-16 .*-f utf-16"),
        ("a\n".encode("utf-16-be"), "NUL byte"),
        (b"\xfe\xff\0a", "1: expected UTF-8 text, got UTF-16"),
        ("a\n".encode("utf-32"), "1: expected UTF-8 text, got UTF-32 .*-f utf-32"),
        (b"\0\0\xfe\xff\0\0\0a", "1: expected UTF-8 text, got UTF-32"),
        (bz2.compress(b"a\n"), "got a bzip2 file .unpack it"),
        (lzma.compress(b"a\n"), "got an xz file .unpack it"),
        (b"PK\x03\x04....", "got a ZIP file .unpack it"),
        (b"\xba\x16\x4f\x2f....", "got a model of fastText .*ends in .vec"),
        (gzip.compress(bz2.compress(b"a\n"), mtime=0), "got a bzip2 file"),
        (
            gzip.compress(b"a\n", mtime=0)[:-9],
            "x.txt:2: the gzip stream is truncated or dam",
        ),
        (b"\x1f\x8b\x08\xff", "x.txt:1: the gzip stream is truncated or damaged"),
        (
            gzip.compress(b"a\n", mtime=0)[:-8] + bytes(8),
            "x.txt:2: the gzip stream is truncated or damaged",
        ),
        (
            pyarrow.compress(b"abc" * 99, "zstd", asbytes=True)[:-2],
            "x.txt:1: cannot read the file: ",
        ),
    ],
)
def test_invalid_files(file: Path, content: bytes, problem: str) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        lines(file)


@pytest.mark.parametrize("content", [b"BZh0", b"BZh91AY", b"PK", b"\xfd7zX", b"\xef"])
def test_other_beginnings(content: bytes, file: Path) -> None:
    """Such as those of text, or of other bytes, which are not UTF-8."""
    file.write_bytes(content)
    try:
        assert lines(file) == [(1, content.decode())]
    except InputError as error:
        assert "got 0x" in str(error)


def test_line_ends_of_several_kinds(file: Path) -> None:
    file.write_bytes(b"a\rb\nc\r\nd\r\re\r\r\nf")
    found = lines(file)
    assert [line for _, line in found] == ["a", "b", "c", "d", "", "e", "", "f"]
    assert [number for number, _ in found] == list(range(1, 9))


def test_invalid_lines_in_place_of_their_texts(file: Path) -> None:
    file.write_bytes(b"a\r\n\xff\nb\0\nc\n")
    with open_binary(file) as opened:
        first, second, third, last = lines_of(opened, file)
    assert (first, last) == ((1, "a"), (4, "c"))
    assert second[0] == 2 and "x.txt:2: expected UTF-8" in str(second[1])
    assert third[0] == 3 and "x.txt:3: expected text, got binary" in str(third[1])


def test_one_line() -> None:
    assert decode_line("é\r\n".encode(), "x", 1) == "é"
    marked = "\ufeffa".encode()
    assert decode_line(marked, "x", 2) == "a"
    assert decode_line(marked, "x", 2, keep_marks=True) == "\ufeffa"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("none", "none: no such file .check the path in the config or on the command "),
        (".", "cannot open the file: Is a directory"),
        ("a\0b", r"invalid path 'a\\x00b'"),
        ("nothing://x", "invalid path 'nothing://x'"),
        ("/proc/self/mem", "cannot read the file"),
        ("/dev/null", "/dev/null: expected a regular file"),
    ],
)
def test_paths_that_cannot_be_read(path: str, problem: str) -> None:
    if path.startswith("/"):
        require_path(path)
    with pytest.raises(InputError, match=problem):
        lines(path)


def test_a_missing_corpus(file: Path) -> None:
    with pytest.raises(InputError, match="check the path and the data root; buy it.$"):
        lines(file, corpus_hint="buy it")


def test_uris(file: Path) -> None:
    file.write_text("a\n")
    assert lines(Path(str(file))) == [(1, "a")]
    for uri in (file.as_uri(), f"file://localhost{file}"):
        assert list(open_text(uri)) == [(1, "a")]
    odd = file.with_name("a b%.txt")
    odd.write_text("c\n")
    assert list(open_text(odd.as_uri())) == [(1, "c")]


def test_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    for name in ("2.txt", "1.txt", "a/3.txt", "a/b/4.txt", "a/x.md", "[5].txt"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    for pattern, expected in (
        ("1.txt", ["1.txt"]),
        ("?.txt", ["1.txt", "2.txt"]),
        ("[5].txt", ["[5].txt"]),
        ("**/*.txt", ["1.txt", "2.txt", "[5].txt", "a/3.txt", "a/b/4.txt"]),
        ("a/*", ["a/3.txt", "a/x.md"]),
    ):
        assert list_files(pattern) == [str(tmp_path / name) for name in expected]
    uri = tmp_path.as_uri()
    assert list_files(f"{uri}/?.txt") == [f"{uri}/1.txt", f"{uri}/2.txt"]
    for pattern in ("*.csv", "a", "a/b/*.md", "", f"{uri}/a", f"{uri}/gone/*"):
        with pytest.raises(InputError, match="expected files, nothing matches"):
            list_files(pattern)
    with pytest.raises(InputError, match="nothing://x/.*: cannot list the files"):
        list_files("nothing://x/*")


def test_devices_that_match() -> None:
    require_path("/dev/null")
    with pytest.raises(InputError, match="/dev/null: expected a regular file"):
        list_files("/dev/nul[l]")


def test_files_without_items() -> None:
    assert list(not_empty([0, None], "none", "x")) == [0, None]
    with pytest.raises(InputError, match=r"^x: there is none$"):
        list(not_empty([], "there is none", "x"))
