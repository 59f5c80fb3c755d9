"""CoNLL-2012 columns: documents, frames, mentions, brackets, invalid files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.ontonotes import (
    Frame,
    OntonotesSentence,
    find_files,
    read_documents,
    report_skipped,
)
from elmo_tasks.formats.annotation.spans import Span

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(*lines: str) -> Path:
        path = tmp_path / "a.gold_conll"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write_file


def row(
    word: str,
    frameset: str = "-",
    *arguments: str,
    coref: str = "-",
    document: str = "doc 0",
) -> str:
    lemma = "-"
    if frameset != "-":
        lemma = word
    fields = [document, "0", word, "VB", "*", lemma, frameset, "-", "-", "*"]
    fields.extend(arguments)
    fields.append(coref)
    return " ".join(fields)


def sentences(path: Path) -> list[OntonotesSentence]:
    found: list[OntonotesSentence] = []
    for document in read_documents(path):
        found.extend(document.sentences)
    return found


def test_documents_that_differ_in_their_part_alone(write: Write) -> None:
    lines = []
    for part in (1, 2):
        word = row("a", coref="(1)", document=f"k {part}")
        lines.append(f"#begin document (k); part 00{part}\n{word}\n\n#end document")
    found = [(one.key, one.part) for one in read_documents(write(*lines))]
    assert found == [("k", 1), ("k", 2)]
    with pytest.raises(
        InputError,
        match=r"a\.gold_conll:6: the document \(k\); part 1 already begins on line 2",
    ):
        list(read_documents(write(lines[0], lines[0])))


@pytest.mark.parametrize(
    ("numbers", "problem"),
    [
        ((0, 1, 0, 1), ":3: expected an empty line before word 0"),
        (("08", "09", 11), ":3: expected word 10 of a sentence, got '11' .is a line"),
    ],
)
def test_words_that_do_not_follow(
    numbers: tuple[object, ...], problem: str, write: Write
) -> None:
    """They would be one sentence."""
    lines = []
    for number in numbers:
        first, part, _, *rest = row("word").split()
        lines.append(" ".join([first, part, str(number), *rest]))
    with pytest.raises(InputError, match=problem):
        list(read_documents(write(*lines)))


def contents(path: Path) -> list[tuple[str, int, list[tuple[str, ...]], int]]:
    """Key, part and words of each document, and the number of its mentions."""
    found = []
    for document in read_documents(path):
        words = [sentence.words for sentence in document.sentences]
        found.append((document.key, document.part, words, len(document.mentions())))
    return found


@settings(deadline=None, max_examples=100)
@given(
    names=st.lists(
        st.tuples(st.sampled_from(["k", "bc/a_1", "bc/a_2"]), st.integers(0, 11)),
        min_size=1,
        max_size=5,
        unique=True,
    ),
    data=st.data(),
)
def test_documents_are_the_same_without_the_lines_that_begin_and_end_them(
    names: list[tuple[str, int]],
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Also if no empty line divides them, and the next one has other columns."""
    lines = []
    for number, (key, part) in enumerate(names):
        document = f"{key} {part:0{data.draw(st.integers(1, 3))}d}"
        arguments = ["*"] * data.draw(st.integers(0, 2))
        lines.append(f"#begin document ({key}); part {part:03d}")
        for word in range(data.draw(st.integers(1, 3))):
            text = f"{number}.{word}"
            lines.append(row(text, "-", *arguments, coref="(1)", document=document))
            lines += [""] * data.draw(st.integers(0, 1))
        lines.append("#end document")
    file = tmp_path_factory.mktemp("documents") / "a.gold_conll"
    file.write_text("\n".join(lines))
    expected = contents(file)
    assert [(key, part) for key, part, _, _ in expected] == names
    file.write_text("\n".join([line for line in lines if not line.startswith("#")]))
    assert contents(file) == expected


def test_parts_that_are_no_numbers_divide_documents(write: Write) -> None:
    lines = [row(part, document=f"k {part}") for part in ("a", "b", "b")]
    found = [one.sentences[0].words for one in read_documents(write(*lines))]
    assert found == [("a",), ("b", "b")]


A, B = "#begin document (k); part 000", "#end document"
K, L = row("a", document="k 0"), row("a", document="l 0")
AGAIN = r"the document \(k\); part 0 already begins on line"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([K, L, K], f":3: {AGAIN} 1 .columns 1 and 2 name"),
        ([A, K, B, "", A, K, B], f":6: {AGAIN} 2"),
        ([K, "#Begin Document", K], f":3: {AGAIN} 1"),
        ([A, K, "#end document#begin document (l)", K], f":4: {AGAIN} 2"),
    ],
)
def test_a_document_begins_once(write: Write, lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=f"a.gold_conll{message}"):
        list(read_documents(write(*lines)))


def test_comments(write: Write) -> None:
    """Also one of as many words as a row has columns."""
    note = "# a note of twelve words , as many as a row"
    (sentence,) = sentences(write(note, row("a"), "# a note", row("b"), "#c"))
    assert sentence.words == ("a", "b")


@pytest.mark.parametrize("end", [[B], [], ["", "# a note"], [A.replace("k", "l"), L]])
def test_warns_of_a_document_without_end(
    end: list[str], write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    file = write(A, K, *end)
    list(read_documents(file))
    lines = [1, 3] if L in end else [1]
    problem = "begins here has no '#end document'; is the file complete?"
    expected = [f"{file}:{line}: the document that {problem}" for line in lines]
    assert caplog.messages == ([] if B in end else expected)
    caplog.clear()
    list(read_documents(write(*[line for line in (K, *end) if "#" not in line])))
    assert caplog.text.count("no '#begin document' before the first word") == 1


def test_finds_files_of_a_folder_and_a_name(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    for name in (
        "b/x.v4_gold_conll",
        "b/c/y.gold_conll.gz",
        "a.gold_conll",
        "b/x.v4_auto_conll",
        "b/x.txt",
        "b/z.gold_conll.zst",
        ".hidden/x.gold_conll",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert find_files(tmp_path) == [
        tmp_path / "a.gold_conll",
        tmp_path / "b/c/y.gold_conll.gz",
        tmp_path / "b/x.v4_gold_conll",
        tmp_path / "b/z.gold_conll.zst",
    ]
    assert find_files(tmp_path / "b" / "x.txt") == [tmp_path / "b" / "x.txt"]
    with pytest.raises(InputError, match=r"no file in this folder .*LDC2013T19"):
        find_files(tmp_path / "empty")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [row("a"), "doc 0 1 b VB * - - - - *"],
            ":2: expected at least 12 columns, got 11",
        ),
        (
            [row("a"), "", row("b"), row("c", "-", "*")],
            ":4: expected 12 columns as on line 3, got 13",
        ),
        (
            [row("a", coref="(1"), row("b", coref="2)")],
            ":2: coreference of the document .doc.; part 000: '2.' closes a bracket that was not opened",
        ),
        (
            [row("a"), row("run", "01")],
            ":1: expected a column of arguments for each of 1 framesets, got 0",
        ),
        (
            [row("a", "-", "*", "*"), row("run", "01", "(V*)", "*")],
            ":1: expected a column of arguments for each of 1 framesets, got 2",
        ),
        (
            [row("a", "-", "(V*)"), row("run", "01", "*")],
            ":2: column 12 has no '.V' over its predicate 'run'",
        ),
        (
            [row("a", "-", "*"), row("run", "01", "(ARG0*)")],
            ":2: column 12 has no '.V' over its predicate 'run'",
        ),
        (
            [row("a"), "", row("b"), row("c", coref="(7"), "", row("d")],
            ":4: coreference of the document .doc.; part 000: the bracket '.7' is not",
        ),
        (["", "# note"], ": expected sentences in 12 or more columns, got none"),
        (
            [row("a", "-", "(ARG0*"), row("run", "01", "(V*)")],
            ":1: column 12: the bracket '.ARG0' is not closed",
        ),
    ],
)
def test_invalid_files(write: Write, lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=f"a.gold_conll{message}"):
        for document in read_documents(write(*lines)):
            document.mentions()
            for sentence in document.sentences:
                sentence.frames()


def test_frames(write: Write) -> None:
    """A column for each predicate in order; the predicate itself may be continued."""
    lines = [
        row("they", "-", "(ARG0*)", "*"),
        row("give", "01", "(V*)", "*"),
        row("up", "-", "(C-V*)", "(C-V*"),
        row("run", "02", "(ARG1*)", "*)"),
    ]
    (sentence,) = sentences(write(*lines))
    first = (Span(0, 1, "ARG0"), Span(1, 2, "V"), Span(2, 3, "C-V"), Span(3, 4, "ARG1"))
    assert sentence.frames() == (
        Frame(1, "give", "01", first),
        Frame(3, "run", "02", (Span(2, 4, "C-V"),)),
    )
    assert sentence.pos == ("VB",) * 4 and sentence.line == 1
    (plain,) = sentences(write(row("a")))
    assert plain.frames() == ()


def test_mentions_are_words_of_the_document(write: Write) -> None:
    """They may cross the end of a sentence."""
    lines = [row("a"), row("b", coref="(5"), "", row("c", coref="5)|(6)"), row("d")]
    (document,) = read_documents(write(*lines))
    assert document.mentions() == (Span(1, 3, "5"), Span(2, 3, "6"))


@pytest.mark.parametrize(
    ("part", "expected"), [("0", 0), ("012", 12), ("9" * 9, 999_999_999), ("9" * 10, 0)]
)
def test_parts_of_documents(part: str, expected: int, write: Write) -> None:
    (document,) = read_documents(write(A, row("a", document=f"k {part}"), B))
    assert (document.key, document.part) == ("k", expected)


@pytest.mark.parametrize(("count", "warnings"), [(0, 0), (1, 2), (10, 11), (12, 11)])
def test_what_is_skipped(
    count: int, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    errors = [InputError(f"problem {number}") for number in range(count)]
    report_skipped(errors, "sentences", path="x", kept=1)
    assert len(caplog.messages) == warnings
    if errors:
        *_, last = caplog.messages
        assert caplog.messages[0] == "sentences skipped: problem 0"
        assert last == f"x: {count} sentences with invalid annotation skipped"
        with pytest.raises(InputError, match="problem 0"):
            report_skipped(errors, "sentences", path="x", kept=0)
