"""Text files: paths, line ends, limits, errors."""

import gzip
from pathlib import Path

import pyarrow
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.text_files import (
    list_files,
    not_empty,
    open_text,
)
from tests.system import require_path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.txt"


def lines(file: Path | str, **options: object) -> list[tuple[int, str]]:
    return list(open_text(file, **options))  # type: ignore[arg-type]


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


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a\n\xc3(\n", "2: expected UTF-8 text, got 0xc3 as byte 1 of the line"),
        (b"a\nb\xff\n", "2: expected UTF-8 text, got 0xff as byte 2 .*iconv -f cp1252"),
        (b"a\nb\0\n", "2: expected text, got binary data .a NUL byte"),
        (
            gzip.compress(b"a\n", mtime=0)[:-9],
            "x.txt:2: cannot read the file from here on",
        ),
        (b"\x1f\x8b\x08\xff", "x.txt:1: cannot read the file from here on"),
        (
            gzip.compress(b"a\n", mtime=0)[:-8] + bytes(8),
            "x.txt:2: cannot read the file from here on",
        ),
        (
            pyarrow.compress(b"abc" * 99, "zstd", asbytes=True)[:-2],
            "x.txt:1: cannot read the file from here on: ",
        ),
    ],
)
def test_invalid_files(file: Path, content: bytes, problem: str) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        lines(file)


def test_line_ends_of_several_kinds(file: Path) -> None:
    file.write_bytes(b"a\rb\nc\r\nd\r\re\r\r\nf")
    found = lines(file)
    assert [line for _, line in found] == ["a", "b", "c", "d", "", "e", "", "f"]
    assert [number for number, _ in found] == list(range(1, 9))


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("none", "none: no such file .check the path in the config or on the command "),
        (".", "cannot open the file: Is a directory"),
        ("a\0b", r"invalid path 'a\\x00b'"),
        ("nothing://x", "invalid path 'nothing://x'"),
        ("/proc/self/mem", "cannot read the file"),
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
    assert list(open_text(file.as_uri())) == [(1, "a")]
    odd = file.with_name("a b%.txt")
    odd.write_text("c\n")
    assert list(open_text(odd.as_uri())) == [(1, "c")]


def test_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    for name in ("2.txt", "1.txt", "a/3.txt", "a/b/4.txt", "a/x.md", "[5].txt"):
        (tmp_path / name).touch()
    (tmp_path / "a/broken.link").symlink_to("gone")
    monkeypatch.chdir(tmp_path)
    for pattern, expected in (
        ("a/*.link", ["a/broken.link"]),  # opening it says what is wrong
        ("1.txt", ["1.txt"]),
        ("?.txt", ["1.txt", "2.txt"]),
        ("[5].txt", ["[5].txt"]),
        ("**/*.txt", ["1.txt", "2.txt", "[5].txt", "a/3.txt", "a/b/4.txt"]),
        ("a/[3x]*", ["a/3.txt", "a/x.md"]),
    ):
        assert list_files(pattern) == [str(tmp_path / name) for name in expected]
    uri = tmp_path.as_uri()
    assert list_files(f"{uri}/?.txt") == [f"{uri}/1.txt", f"{uri}/2.txt"]
    for pattern in (
        "*.csv",
        "a",
        "a/b/*.md",
        "",
        f"{uri}/a",
        f"{uri}/gone/*",
    ):
        with pytest.raises(InputError, match="expected files, nothing matches"):
            list_files(pattern)
    with pytest.raises(InputError, match="nothing://x/.*: cannot list the files"):
        list_files("nothing://x/*")


def test_files_without_items() -> None:
    assert list(not_empty([0, None], "none", "x")) == [0, None]
    with pytest.raises(InputError, match=r"^x: there is none$"):
        list(not_empty([], "there is none", "x"))
