"""Column files and the text files below them."""

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from elmo_tasks.data.columns import ColumnSentence, read_columns
from elmo_tasks.data.files import open_text
from elmo_tasks.errors import InputError

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "ner"
Write = Callable[[bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: bytes) -> Path:
        path = tmp_path / "corpus.txt"
        path.write_bytes(content)
        return path

    return write_file


def words(path: Path) -> list[tuple[str, ...]]:
    return [sentence.columns[0] for sentence in read_columns(path)]


def error_of(path: Path, **options: int) -> str:
    with pytest.raises(InputError) as caught:
        list(read_columns(path, **options))
    return str(caught.value)


def test_fixture_exactly() -> None:
    sentences = list(read_columns(FIXTURES / "eng.iob1", min_columns=4))
    assert [(s.line, len(s.columns), len(s.columns[0])) for s in sentences] == [
        (3, 4, 9),
        (13, 4, 7),
        (23, 4, 7),
    ]
    assert sentences[2].columns[0][:3] == ("Harrow", "Rowing", "Club")
    assert sentences[2].columns[3][:3] == ("I-LOC", "I-ORG", "I-ORG")


def test_tabs_runs_of_blanks_and_blank_lines(write: Write) -> None:
    path = write(b"\n \t \nred \t  O\nkite\tO  \n\t\n\n\nflew O")
    assert list(read_columns(path)) == [
        ColumnSentence(columns=(("red", "kite"), ("O", "O")), line=3),
        ColumnSentence(columns=(("flew",), ("O",)), line=8),
    ]


def test_document_start_ends_a_sentence_without_an_empty_line(write: Write) -> None:
    path = write(b"-DOCSTART-\nred O\n-DOCSTART- -X- -X- O\nkite O\n-DOCSTART-\n")
    assert words(path) == [("red",), ("kite",)]


def test_crlf_and_byte_order_mark_leave_no_trace(write: Write) -> None:
    plain = b"-DOCSTART- O\n\nred O\nkite O\n\nflew O\n"
    expected = list(read_columns(write(plain)))
    path = write(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"))
    assert list(read_columns(path)) == expected
    assert len(expected) == 2


def test_unicode_spaces_and_line_separators_stay_in_the_token(write: Write) -> None:
    path = write("a\u00a0b O\nc\u2028d O\ne\x85f\x1c O\n".encode())
    assert words(path) == [("a\u00a0b", "c\u2028d", "e\x85f\x1c")]


def test_gzip_by_content_not_by_name(write: Write) -> None:
    assert words(write(gzip.compress(b"red O\n\n") + gzip.compress(b"kite O\n"))) == [
        ("red",),
        ("kite",),
    ]


def test_streams_instead_of_reading_ahead(write: Write) -> None:
    sentences = read_columns(write(b"red O\n\nkite\n"))
    assert next(sentences).columns[0] == ("red",)
    with pytest.raises(InputError, match="corpus.txt:3: expected 2 columns"):
        next(sentences)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"red -X- O\nkite O\n", ":2: expected 3 columns as on line 1, found 2"),
        (b"red O\n\nold kite O\n", ":3: expected 2 columns as on line 1, found 3"),
        (b"\nred\n", ":2: expected at least 2 columns, found 1"),
        (b"", "no sentence found"),
        (b"\n-DOCSTART- -X- -X- O\n\n", "no sentence found"),
        (b"red O\nca\xe9 O\n", ":2: UTF-8 text was wanted, byte 3 of the line is 0xe9"),
        (b"red O\n\x00\x01 O\n", r":2: text was wanted, this is binary \(a NUL byte\)"),
        ("red O\n".encode("utf-16"), ":1: UTF-8 text was wanted, this is UTF-16"),
        (b"red O\rkite O\r", ":1: a carriage return within the line"),
        (bytes(range(128, 256)) * 40, ":1: UTF-8 text was wanted, byte 1 of the line is 0x80"),
    ],
)
def test_bad_content(write: Write, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=f"corpus.txt(: )?{message}"):
        list(read_columns(write(content)))


def test_too_few_columns_for_the_caller(write: Write) -> None:
    assert "corpus.txt:1: expected at least 4 columns, found 2" in error_of(write(b"red O\n"), min_columns=4)


@pytest.mark.parametrize("kept", [5, 15, -4])
def test_truncated_gzip(write: Write, kept: int) -> None:
    whole = gzip.compress(b"red O\n\n" + os.urandom(3000).hex().encode() + b" O\n")
    assert "the gzip stream is truncated or damaged" in error_of(write(whole[:kept]))


@pytest.mark.parametrize("share", [0.002, 0.1, 0.5, 0.9, 0.99999])
def test_truncated_gzip_gives_every_line_that_is_whole(write: Write, share: float) -> None:
    """And then an error at the first that is not."""
    whole = gzip.compress(b"".join(b"%d %s\n" % (number, os.urandom(6).hex().encode()) for number in range(50_000)))
    kept = whole[: int(share * len(whole))]
    lines = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(kept).decode().split("\n")[:-1]
    found = []
    with pytest.raises(InputError, match="the gzip stream is truncated or damaged from here on") as error:
        for _, line in open_text(write(kept)):
            found.append(line)
    assert found == lines and len(lines) > 20
    assert error.value.line == len(lines) + 1


def test_gzip_that_is_no_text(write: Write) -> None:
    """Refused long before all of it is unpacked; the same text as it is, or packed less, is read."""
    text = b"red O\n\n" * 400_000
    assert "unpacks to more than 100 times its size, which text hardly does (if it is meant so" in error_of(
        write(gzip.compress(text))
    )
    for data in (
        text,
        gzip.compress(text[: 7 * 250_000]),
        gzip.compress(os.urandom(30_000).hex().encode() + b" O\n" + text),
    ):
        assert words(write(data))


def test_a_line_that_is_too_long(write: Write) -> None:
    most = 2**20
    assert words(write(b"x" * (most - 2) + b" O\n"))
    assert f":2: lines of at most {most:,} characters were wanted, found one of {most + 1:,}" in error_of(
        write(b"red O\n" + b"x" * (most - 1) + b" O\n")
    )


def test_a_sentence_without_end(write: Write) -> None:
    most = 2**15
    assert words(write(b"-DOCSTART- O\n\n" + b"red O\n" * most + b"\nred O\n"))
    assert f":3: sentences of at most {most:,} tokens were wanted, the one that begins here has more" in error_of(
        write(b"red O\n\n" + b"red O\n" * (most + 1) + b"\n")
    )


@pytest.mark.parametrize("damaged", [-6, 10])
def test_damaged_gzip(write: Write, damaged: int) -> None:
    """Once in the checksum, once in the compressed data."""
    whole = bytearray(gzip.compress(b"red O\n" * 50, mtime=0))
    whole[damaged] ^= 0xFF
    assert "the gzip stream is truncated or damaged from here on" in error_of(write(bytes(whole)))


def test_missing_file_outside_the_data_root(tmp_path: Path) -> None:
    message = error_of(tmp_path / "eng.train")
    assert message.startswith(f"{tmp_path / 'eng.train'}: no such file")
    assert "check the path" in message
    assert "ELMO_TASKS_DATA" not in message


def test_missing_file_below_the_data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_TASKS_DATA", str(tmp_path / "other" / ".."))
    with pytest.raises(InputError) as caught:
        list(open_text(tmp_path / "ner" / "eng.train", corpus_hint="Kites come from the shop"))
    message = str(caught.value)
    assert "ELMO_TASKS_DATA is" in message
    assert message.endswith("the file belongs below it at ner/eng.train; Kites come from the shop)")


def test_folder_instead_of_file(tmp_path: Path) -> None:
    assert error_of(tmp_path) == f"{tmp_path}: a file was wanted, this is a folder"


def test_path_through_a_file(write: Write) -> None:
    assert "cannot be opened: Not a directory" in error_of(write(b"red O\n") / "below")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a\0b", r"no file can have the path 'a\\x00b': embedded null byte"),
        ("/proc/self/mem", "/proc/self/mem: the file cannot be read: "),
    ],
)
def test_paths_that_cannot_be_read(path: str, message: str) -> None:
    if path.startswith("/") and not Path(path).exists():
        pytest.skip(f"{path} is absent")
    with pytest.raises(InputError, match=message):
        list(open_text(path))


def test_file_is_closed_when_left_early(write: Write) -> None:
    lines = open_text(write(b"one\ntwo\n"))
    assert next(lines) == (1, "one")
    lines.close()  # type: ignore[attr-defined]
    assert list(lines) == []
