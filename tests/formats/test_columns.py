"""Column files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.columns import (
    ColumnSentence,
    read_columns,
    split_columns,
)

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(text: str) -> Path:
        path = tmp_path / "corpus.txt"
        path.write_text(text)
        return path

    return write_file


def words(path: Path, **options: Any) -> list[tuple[str, ...]]:
    return [sentence.columns[0] for sentence in read_columns(path, **options)]


def test_tabs_blanks_and_empty_lines(write: Write) -> None:
    content = "\n \t \nred \t  O\nkite\tO  \n\t\n\n\nflew O"
    assert list(read_columns(write(content))) == [
        ColumnSentence(columns=(("red", "kite"), ("O", "O")), line=3),
        ColumnSentence(columns=(("flew",), ("O",)), line=8),
    ]


def test_a_line_with_tabs_is_split_at_tabs(write: Write) -> None:
    content = "Ann Lee\tNNP \tB-PER\nand\tCC\tO\t\nBo O O\n\nAl  Lee\tNNP\tB-PER\n"
    assert [one.columns for one in read_columns(write(content))] == [
        (("Ann Lee", "and", "Bo"), ("NNP", "CC", "O"), ("B-PER", "O", "O")),
        (("Al  Lee",), ("NNP",), ("B-PER",)),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "-DOCSTART-\nred O\n-DOCSTART- -X- -X- O\nkite O\n-DOCSTART-\n",
            [("red",), ("kite",)],
        ),
        (
            "a\u00a0b O\nc\u2028d O\ne\x85f\x1c O\n",
            [("a\u00a0b", "c\u2028d", "e\x85f\x1c")],
        ),
        (
            "#tag O\n# SYM\n#\tO\n\n#a=b O\n## O\n",
            [("#tag", "#", "#"), ("#a=b", "##")],
        ),
        (
            "\ufeffShe O\n\ufeffsails\ufeff O\n\ufeff\n",
            [("She", "sails\ufeff")],
        ),
    ],
)
def test_words(content: str, expected: list[tuple[str, ...]], write: Write) -> None:
    assert words(write(content)) == expected


NOT_TOLD = "set dataset_reader.comments to true"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("She\tPRON\tO\nAnn Lee\tO\n", "2: expected 3 columns .* split at tabs only"),
        ("She\tPRON\tO\nAnn Lee\t\tO\n", "2: expected a value in column 1"),
        ("She\tO\nAnn Lee\t\n", "2: expected at least 2 columns, got 1"),
        ("\tShe\tO\n", "1: expected a value in column 0.*, also adjacent ones"),
        ("She PRON O\nAnn\tLee O\n", "2: expected 3 columns as on line 1, got 2"),
        ("red -X- O\nkite O\n", "2: expected 3 columns as on line 1, got 2$"),
        (
            "red O\n" + "x" * (2**20 - 1) + " O\n",
            "2: expected lines of at most 1,048,576 characters",
        ),
        (
            "red O\n\n" + "red O\n" * (2**15 + 1),
            "3: expected sentences of at most 32,768 tokens, .*an empty line ends a sent",
        ),
        ("# sent_id = 1\nit O\n", f"2: expected 4 columns .*{NOT_TOLD}"),
        ("#\nit O\n", f"1: expected .*{NOT_TOLD}"),
        ("She O\n\n# X O\nit O\n", f"3: expected .*{NOT_TOLD}"),
        (
            "She PRON\n# a longer note\n",
            "2: expected 2 columns as on line 1, got 4 .if",
        ),
    ],
)
def test_invalid_content(write: Write, content: str, message: str) -> None:
    with pytest.raises(InputError, match=f"corpus.txt:{message}"):
        list(read_columns(write(content)))


@pytest.mark.parametrize("line", ["# sent_id = 1", "#", "## x y", "#tag O"])
@pytest.mark.parametrize("before", ["", "-DOCSTART-\n", "# 1\n\n"])
def test_comments(line: str, before: str, write: Write) -> None:
    """They are lines before a sentence, if the file is said to have any."""
    content = before + f"{line}\n{line}\nShe O\n# O\n\n" * 2
    assert words(write(content), comments=True) == [("She", "#")] * 2


def test_a_file_of_comments(write: Write) -> None:
    with pytest.raises(InputError, match="expected token lines of 2 or more columns"):
        words(write("# a note\n\n# another\n\n"), comments=True)


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        (("1-2", "1", "2"), ":1: expected a word, got '1-2'"),
        (("1", "1.1", "2"), ":2: expected a word, got '1.1'"),
        (("1", "2"), None),
        (("2", "0.1"), None),
    ],
)
def test_rows_of_conllu(
    ids: tuple[str, ...], problem: str | None, write: Write
) -> None:
    """Ten columns, of which the first counts from 1, are CoNLL-U."""
    narrow = "".join([f"{one} _ _ _ _ _ _ _ _\n" for one in ids])
    assert words(write(narrow)) == [ids]
    wide = write(narrow.replace("\n", " _\n"))
    if problem is None:
        assert words(wide) == [ids]
    else:
        hint = " in the columns of CoNLL-U .set dataset_reader.tag"
        with pytest.raises(InputError, match=problem + hint):
            words(wide)


@pytest.mark.parametrize("least", [1, 2, 3])
def test_the_least_number_of_columns(least: int, write: Write) -> None:
    file = write("\n" + "a " * least + "\n")
    (found,) = read_columns(file, min_columns=least)
    assert (len(found.columns), found.line) == (least, 2)
    problem = f":2: expected at least {least + 1} columns, got {least}"
    with pytest.raises(InputError, match=problem):
        list(read_columns(file, min_columns=least + 1))
    with pytest.raises(InputError, match=f"lines of {least} or more columns, got none"):
        list(read_columns(write(" \n"), min_columns=least))


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
