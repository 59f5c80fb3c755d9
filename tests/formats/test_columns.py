"""Column files, and reading text files in general."""

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.columns import (
    ColumnSentence,
    read_columns,
    split_columns,
)
from elmo_tasks.formats.text.text_files import open_text

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


def test_tabs_blanks_and_empty_lines(write: Write) -> None:
    content = b"\n \t \nred \t  O\nkite\tO  \n\t\n\n\nflew O"
    expected = [
        ColumnSentence(columns=(("red", "kite"), ("O", "O")), line=3),
        ColumnSentence(columns=(("flew",), ("O",)), line=8),
    ]
    assert list(read_columns(write(content))) == expected
    assert (
        list(read_columns(write(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))))
        == expected
    )


def test_document_starts_and_unicode_blanks(write: Write) -> None:
    assert words(
        write(b"-DOCSTART-\nred O\n-DOCSTART- -X- -X- O\nkite O\n-DOCSTART-\n")
    ) == [("red",), ("kite",)]
    path = write("a\u00a0b O\nc\u2028d O\ne\x85f\x1c O\n".encode())
    assert words(path) == [("a\u00a0b", "c\u2028d", "e\x85f\x1c")]


def test_a_line_with_tabs_is_split_at_tabs(write: Write) -> None:
    content = b"Ann Lee\tNNP \tB-PER\nand\tCC\tO\t\nBo O O\n\nAl  Lee\tNNP\tB-PER\n"
    assert [one.columns for one in read_columns(write(content))] == [
        (("Ann Lee", "and", "Bo"), ("NNP", "CC", "O"), ("B-PER", "O", "O")),
        (("Al  Lee",), ("NNP",), ("B-PER",)),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("She\tPRON\tO\nAnn Lee\tO\n", "2: expected 3 columns .* split at tabs only"),
        ("She\tPRON\tO\nAnn Lee\t\tO\n", "2: expected a value in column 1"),
        ("She\tO\nAnn Lee\t\n", "2: expected at least 2 columns, got 1"),
        ("\tShe\tO\n", "1: expected a value in column 0"),
        ("She PRON O\nAnn\tLee O\n", "2: expected 3 columns as on line 1, got 2"),
    ],
)
def test_tabs_without_values(write: Write, content: str, message: str) -> None:
    with pytest.raises(InputError, match=f"corpus.txt:{message}"):
        list(read_columns(write(content.encode())))


@pytest.mark.parametrize(
    "line", ["# sent_id = 1", "#text = She sails", "# 1", "#", "## x y", "#tag O"]
)
def test_lines_before_a_sentence_that_begin_with_a_hash(
    write: Write, line: str
) -> None:
    """They are comments if the file is said to have any."""
    sentence = "She O\n# O\n"
    content = "\n".join([f"{line}\n{line}\n{sentence}"] * 2).encode()
    for text in (content, b"-DOCSTART-\n" + content, b"# 1\n\n" + content):
        found = read_columns(write(text), comments=True)
        assert [one.columns[0] for one in found] == [("She", "#")] * 2
    fields = line.split()
    if len(fields) == 2:
        [(*first, _, _), _] = read_columns_of(write(content), comments=False)
        assert first == [fields[0]] * 2
    else:
        with pytest.raises(InputError, match=r"corpus.txt:[13]: expected"):
            read_columns_of(write(content), comments=False)


def read_columns_of(path: Path, *, comments: bool) -> list[tuple[str, ...]]:
    return [one.columns[0] for one in read_columns(path, comments=comments)]


@pytest.mark.parametrize("line", ["# sent_id = 1", "#", "# X O"])
@pytest.mark.parametrize("before", ["", "She O\n\n"])
def test_comments_without_the_flag(write: Write, line: str, before: str) -> None:
    """Of another width than the tokens, they are an error that names it."""
    content = f"{before}{line}\nit O\n".encode()
    problem = r"corpus.txt:[123]: expected .* set dataset_reader.comments to true"
    with pytest.raises(InputError, match=problem):
        words(write(content))
    assert words(write(f"{before}# SYM\nit O\n".encode()))[-1] == ("#", "it")


def test_words_that_begin_with_a_hash(write: Write) -> None:
    content = b"#tag O\n# SYM\n#\tO\n\n#a=b O\n## O\n"
    assert words(write(content)) == [("#tag", "#", "#"), ("#a=b", "##")]


def test_a_comment_within_a_sentence_is_an_error(write: Write) -> None:
    content = b"She PRON\n# a longer note\nsails VERB\n"
    problem = ":2: expected 2 columns as on line 1, got 4 .if lines before a sent"
    with pytest.raises(InputError, match=problem):
        words(write(content))


def test_a_file_of_comments(write: Write) -> None:
    with pytest.raises(InputError, match="expected token lines of 2 or more columns"):
        read_columns_of(write(b"# a note\n\n# another\n\n"), comments=True)


@pytest.mark.parametrize("row", ["1-2\tShe's", "1.1\tgone"])
def test_rows_of_conllu_that_are_no_words(write: Write, row: str) -> None:
    rest = "\t_" * 8
    lines = [f"{row}{rest}", f"1\tShe{rest}", f"2\t's{rest}"]
    with pytest.raises(
        InputError, match=":1: expected a word, got .*set dataset_reader.tag"
    ):
        list(read_columns(write("\n".join(lines).encode())))
    assert words(write("\n".join(lines[1:]).encode())) == [("1", "2")]
    words_first = [f"{row}{rest}", f"or\t_{rest}"]
    assert len(words(write("\n".join(words_first).encode()))[0]) == 2


def test_marks_inside_and_before_words(write: Write) -> None:
    content = "\ufeffShe O\n\ufeffsails\ufeff O\n\ufeff\n\ufeff O\n"
    assert words(write(content.encode())) == [("She", "sails\ufeff"), ("\ufeff",)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"red -X- O\nkite O\n", ":2: expected 3 columns as on line 1, got 2"),
        (b"\nred\n", ":2: expected at least 2 columns, got 1"),
        (b"", "expected token lines"),
        (b"red O\nca\xe9 O\n", ":2: expected UTF-8 text, got 0xe9 as byte 3"),
        (b"red O\n\x00\x01 O\n", ":2: expected text, got binary"),
        (
            b"red O\n" + b"x" * (2**20 - 1) + b" O\n",
            ":2: expected lines of at most 1,048,576 characters",
        ),
        (
            b"red O\n\n" + b"red O\n" * (2**15 + 1),
            ":3: expected sentences of at most 32,768 tokens, .*an empty line ends a sent",
        ),
    ],
)
def test_invalid_content(write: Write, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=f"corpus.txt(: )?{message}"):
        list(read_columns(write(content)))


@pytest.mark.parametrize("share", [0.002, 0.99999])
def test_truncated_gzip_yields_all_complete_lines_before_the_error(
    write: Write, share: float
) -> None:
    whole = gzip.compress(
        b"".join(
            b"%d %s\n" % (number, os.urandom(6).hex().encode())
            for number in range(20_000)
        )
    )
    kept = whole[: int(share * len(whole))]
    lines = (
        zlib.decompressobj(zlib.MAX_WBITS | 16)
        .decompress(kept)
        .decode()
        .split("\n")[:-1]
    )
    found = []
    with pytest.raises(
        InputError, match="the gzip stream is truncated or damaged"
    ) as error:
        for _, line in open_text(write(kept)):
            found.append(line)
    assert found == lines and len(lines) > 20
    assert error.value.line == len(lines) + 1


def test_damaged_gzip(write: Write) -> None:
    content = bytearray(gzip.compress(b"red O\n" * 50, mtime=0))
    content[-6] ^= 0xFF  # the checksum
    with pytest.raises(InputError, match="the gzip stream is truncated or damaged"):
        words(write(bytes(content)))


def test_a_file_that_is_packed_well(write: Write) -> None:
    """Such as a million equal lines, which are one thousandth."""
    packed = gzip.compress(b"red O\n" * 1_000_000)
    assert sum(1 for _ in open_text(write(packed))) == 1_000_000


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".", "cannot open the file: Is a directory"),
        ("a\0b", r"invalid path 'a\\x00b'"),
        pytest.param(
            "/proc/self/mem",
            "cannot read the file",
            marks=pytest.mark.skipif(
                not Path("/proc/self/mem").exists(), reason="this system has no /proc"
            ),
        ),
    ],
)
def test_paths_that_cannot_be_read(
    path: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=message):
        list(open_text(path))


@pytest.mark.parametrize("least", [1, 2, 3])
def test_the_least_number_of_columns(least: int, write: Write) -> None:
    file = write(b"\n" + b" ".join([b"a"] * least) + b"\n")
    (found,) = read_columns(file, min_columns=least)
    assert (len(found.columns), found.line) == (least, 2)
    problem = f":2: expected at least {least + 1} columns, got {least}"
    with pytest.raises(InputError, match=problem):
        list(read_columns(file, min_columns=least + 1))
    with pytest.raises(InputError, match=f"lines of {least} or more columns, got none"):
        list(read_columns(write(b" \n"), min_columns=least))
    if least == 2:
        assert list(read_columns(write(b"\na a\n"))) == [found]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("", []),
        (" \t ", []),
        ("a  b ", ["a", "b"]),
        (" a b", ["a", "b"]),
        ("a\tb c\t", ["a", "b c"]),
        ("a\t b \t\tc", ["a", "b", "", "c"]),
        ("\ta", ["", "a"]),
        ("a b\t", ["a b"]),
        ("a\u00a0b c", ["a\u00a0b", "c"]),
    ],
)
def test_fields_of_a_line(line: str, fields: list[str]) -> None:
    assert split_columns(line) == fields


def test_equal_fields_are_shared() -> None:
    first, second = (split_columns(f"{'x' * 3}y O")[0] for _ in range(2))
    assert first is second


def test_the_longest_sentence(write: Write) -> None:
    (found,) = read_columns(write(b"a O\n" * 2**15))
    assert len(found.columns[0]) == 2**15


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a b c\nd e\n", None),
        ("a\tb\tc\n# d e\tx\n", "a line with tabs is split at tabs only"),
        ("a\tb\n\tc\n", "tabs separate columns, also adjacent ones"),
    ],
)
def test_hints(text: str, hint: str | None, write: Write) -> None:
    with pytest.raises(InputError) as caught:
        words(write(text.encode()))
    assert str(caught.value).endswith(f"({hint})" if hint else "got 2")


@pytest.mark.parametrize("row", ["3-4", "0.1", "12-13"])
def test_rows_of_conllu_among_others(row: str, write: Write) -> None:
    """Ten columns whose first is no count from 1 are no CoNLL-U."""
    rest = " _" * 9
    for ids in ((row, "x"), ("2", row), (row,)):
        text = "".join(f"{one}{rest}\n" for one in ids)
        if ids == (row,):
            with pytest.raises(InputError, match=f":1: expected a word, got '{row}'"):
                words(write(text.encode()))
        else:
            assert words(write(text.encode())) == [ids]
    text = "".join(f"{one}{rest[2:]}\n" for one in ("1", row, "2"))
    assert words(write(text.encode())) == [("1", row, "2")]
    text = "".join(f"{one}{rest}\n" for one in ("1", row, "2"))
    problem = (
        f":2: expected a word, got '{row}' in the columns of CoNLL-U .set dataset_"
    )
    with pytest.raises(InputError, match=problem):
        words(write(text.encode()))
