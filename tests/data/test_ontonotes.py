"""CoNLL-2012 columns: documents, frames, names, mentions, brackets, and what is told of bad files."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.data.brackets import (
    BracketError,
    brackets_from_spans,
    mentions_from_brackets,
    spans_from_brackets,
)
from elmo_tasks.data.ontonotes import Frame, OntonotesSentence, find_files, read_documents
from elmo_tasks.data.spans import Span
from elmo_tasks.errors import InputError
from tests import tiny
from tests.tiny import REAL_DATA

FIXTURES = tiny.FIXTURES / "srl"
TALE, NOTES = FIXTURES / "tale.v4_gold_conll", FIXTURES / "web" / "notes.gold_conll"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(*lines: str, name: str = "a.gold_conll") -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write_file


def row(word: str, frameset: str = "-", *arguments: str, pos: str = "VB", name: str = "*", coref: str = "-") -> str:
    lemma = "-" if frameset == "-" else word
    return " ".join(["doc", "0", "0", word, pos, "*", lemma, frameset, "-", "-", name, *arguments, coref])


def sentences(path: Path) -> list[OntonotesSentence]:
    return [sentence for document in read_documents(path) for sentence in document.sentences]


def test_documents_and_their_parts() -> None:
    documents = list(read_documents(TALE))
    assert [(one.key, one.part, len(one.sentences)) for one in documents] == [
        ("bn/tale/00/tale_0001", 0, 2),
        ("bn/tale/00/tale_0001", 1, 1),
    ]
    assert [sentence.line for one in documents for sentence in one.sentences] == [2, 16, 32]
    assert documents[0].sentences[0].file == str(TALE)


def test_every_column_of_a_sentence() -> None:
    sentence = sentences(TALE)[0]
    assert sentence.words[:4] == ("Mira", ",", "who", "keeps")
    assert sentence.pos[:4] == ("NNP", ",", "WP", "VBZ")
    assert sentence.parse_bits[2] == "(SBAR(WHNP*)"
    assert sentence.lemmas[3:7] == ("keep", "-", "-", "sell")
    assert sentence.framesets[3:7] == ("04", "-", "-", "01")
    assert sentence.word_senses[10:12] == ("-", "1")
    assert set(sentence.speakers) == {"Anna"}
    assert sentence.names() == (Span(0, 1, "PERSON"), Span(10, 11, "CARDINAL"))
    assert sentence.mentions() == (Span(0, 6, "4"), Span(7, 10, "7"))


def test_frames() -> None:
    first, second, third = sentences(TALE)
    assert first.frames() == (
        Frame(3, "keep", "04", (Span(0, 1, "ARG0"), Span(2, 3, "R-ARG0"), Span(3, 4, "V"), Span(4, 5, "ARG1"))),
        Frame(6, "sell", "01", (Span(0, 6, "ARG0"), Span(6, 7, "V"), Span(7, 10, "ARG2"), Span(10, 12, "ARG1"))),
    )
    give, plan, said, lose = second.frames()
    assert give == Frame(0, "give", "08", (Span(0, 2, "V"), Span(2, 4, "ARG1")))
    assert plan == Frame(3, "plan", "01", (Span(2, 3, "ARG0"), Span(3, 4, "V")))
    parts = (Span(0, 4, "ARG1"), Span(5, 6, "ARG0"), Span(6, 7, "V"), Span(8, 12, "C-ARG1"))
    assert said == Frame(6, "say", "01", parts)
    assert lose.predicate == 9
    assert second.mentions() == (Span(2, 4, "9"), Span(2, 3, "4"), Span(5, 6, "7"), Span(10, 12, "12"))
    assert third.frames() == () and third.lemmas[2] == "do"


def test_tabs_and_dummy_parses_and_a_predicate_in_pieces() -> None:
    sentence, _ = sentences(NOTES)
    assert sentence.words[3:6] == ("side", "-", "stepping")
    (frame,) = sentence.frames()
    assert (frame.predicate, frame.lemma) == (5, "sidestep")
    assert [span.label for span in frame.arguments] == ["ARG0", "V", "C-V", "ARG1", "ARGM-TMP"]


def test_gzip_and_no_break_spaces_and_no_last_empty_line(tmp_path: Path) -> None:
    path = tmp_path / "a.gold_conll.gz"
    path.write_bytes(gzip.compress(row("10\u00a0000").encode()))
    assert [one.words for one in sentences(path)] == [("10\u00a0000",)]


def test_words_outside_any_document_belong_to_the_one_they_name(write: Write) -> None:
    path = write(row("a"), "", row("b"), "#begin document (other); part 003", row("c"), "#end document", row("d"))
    found = [(one.key, one.part, [s.words[0] for s in one.sentences]) for one in read_documents(path)]
    assert found == [("doc", 0, ["a", "b"]), ("other", 3, ["c"]), ("doc", 0, ["d"])]


def test_documents_of_one_name_are_never_one(write: Write) -> None:
    document = ["#begin document (k); part 001", row("a", coref="(1)"), "", "#end document"]
    with pytest.raises(InputError, match=r"a\.gold_conll:5: the document \(k\); part 001 begins on line 1 already"):
        list(read_documents(write(*document, *document)))
    other = [document[0].replace("001", "002"), *document[1:]]
    assert [(one.key, one.part) for one in read_documents(write(*document, *other))] == [("k", 1), ("k", 2)]


def test_comments_end_no_sentence_and_a_word_may_begin_with_a_hash(write: Write) -> None:
    hashed = row("c").replace("doc", "#doc", 1)
    (document,) = read_documents(write("# made by hand", row("a"), "# a note", row("b"), hashed))
    assert [sentence.words for sentence in document.sentences] == [("a", "b", "c")]


@pytest.mark.parametrize("part", ["²", "9" * 5000, "-", "x"])
def test_a_second_column_that_is_no_number(part: str, write: Write) -> None:
    (document,) = read_documents(write(row("a").replace("doc 0", f"doc {part}", 1)))
    assert (document.key, document.part) == ("doc", 0)


@pytest.mark.parametrize(
    ("lines", "warnings"),
    [
        (["#begin document (k); part 000", row("a"), "", "#end document"], 0),
        (["#begin document (k); part 000", row("a"), ""], 1),
        (["#begin document (k); part 000", row("a"), "#begin document (l); part 000", row("a"), "#end document"], 1),
        ([row("a")], 0),
    ],
)
def test_a_document_without_end_is_told(
    lines: list[str], warnings: int, write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    file = write(*lines)
    assert list(read_documents(file))
    assert len(caplog.messages) == warnings
    assert all("a.gold_conll:1: the document that begins here has no '#end" in message for message in caplog.messages)


def test_files_of_a_folder_a_pattern_and_a_name(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("b/x.v4_gold_conll", "b/c/y.gold_conll.gz", "a.gold_conll", "b/x.v4_auto_conll", "b/x.txt"):
        (tmp_path / name).touch()
    names = lambda found: [str(file.relative_to(tmp_path)) for file in found]  # noqa: E731
    assert names(find_files(tmp_path)) == ["a.gold_conll", "b/c/y.gold_conll.gz", "b/x.v4_gold_conll"]
    assert names(find_files(str(tmp_path / "**" / "*.v4_*"))) == ["b/x.v4_auto_conll", "b/x.v4_gold_conll"]
    assert names(find_files(tmp_path / "b" / "x.txt")) == ["b/x.txt"]


def test_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"no file below this folder ends in \.gold_conll or .*LDC2013T19"):
        find_files(tmp_path)
    with pytest.raises(InputError, match=r"\*\.gold_conll: no file fits this pattern"):
        find_files(tmp_path / "*.gold_conll")
    monkeypatch.setenv("ELMO_TASKS_DATA", str(tmp_path))
    (missing,) = find_files(tmp_path / "srl" / "train")
    with pytest.raises(InputError, match="ELMO_TASKS_DATA is .* at srl/train; OntoNotes 5.0"):
        list(read_documents(missing))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([row("a\rb")], "1: a carriage return within the line"),
        (["#begin document (k); part " + "9" * 5000], "1: '#begin document .KEY.; part 000' was wanted, found .{,70}$"),
        ([], "no sentence found"),
        (["#begin document (a); part 000", "", "#end document"], "no sentence found"),
        (["#begin document a"], "1: '#begin document .KEY.; part 000' was wanted, found '#begin document a'"),
        ([row("a"), "doc 0 1 b VB * - - - - *"], "2: at least 12 columns were wanted, found 11"),
        ([row("a"), "", row("b"), row("c", "-", "*")], "4: 12 columns were wanted as on line 3, found 13"),
    ],
)
def test_bad_lines(write: Write, lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=f"a.gold_conll(: |:){message}"):
        list(read_documents(write(*lines)))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([row("a"), row("run", "01")], "2: 1 words have a frameset, but 0 columns hold arguments"),
        ([row("a", "-", "(V*)")], "2: 0 words have a frameset, but 1 columns hold arguments"),
        ([row("a", "-", "(V*)"), row("run", "01", "*")], "3: column 12 has no '.V' over its predicate 'run'"),
        (
            [row("go", "01", "*", "(V*)"), row("on", "02", "(V*)", "*")],
            "2: column 12 has no '.V' over its predicate 'go'",
        ),
        ([row("a", "-", "(ARG0*"), row("run", "01", "(V*)")], "2: column 12: the bracket '.ARG0' is not closed"),
        ([row("a", "-", "*"), row("run", "01", "(V*))")], r"3: column 12: '\(V\*\)\)' closes a bracket that was not"),
        ([row("a", "-", "ARG0"), row("run", "01", "(V*)")], "2: column 12: brackets such as .* found 'ARG0'"),
    ],
)
def test_bad_frames_are_told_when_they_are_read(write: Write, lines: list[str], message: str) -> None:
    (sentence,) = sentences(write("#begin document (doc); part 000", *lines))
    with pytest.raises(InputError, match=f"a.gold_conll:{message}"):
        sentence.frames()


def test_bad_names_and_mentions(write: Write) -> None:
    (sentence,) = sentences(write(row("a", name="(DATE*", coref="(1"), row("b", coref="2)")))
    with pytest.raises(InputError, match=r"a.gold_conll:1: column 11: the bracket '\(DATE' is not closed"):
        sentence.names()
    with pytest.raises(InputError, match=r"a.gold_conll:2: coreference: '2\)' closes a bracket that was not opened"):
        sentence.mentions()


def test_brackets_by_hand() -> None:
    assert spans_from_brackets(["(A(B*", "*)", "(C)", "*)"]) == (Span(0, 4, "A"), Span(0, 2, "B"), Span(2, 3, "C"))
    assert spans_from_brackets(["-", "*"]) == ()
    crossing = ["(1|(2", "(1)", "1)", "2)|(1)"]
    assert mentions_from_brackets(crossing) == (Span(0, 4, "2"), Span(0, 3, "1"), Span(1, 2, "1"), Span(3, 4, "1"))
    nested = ["(1|(1", "1)", "1)"]
    assert mentions_from_brackets(nested) == (Span(0, 3, "1"), Span(0, 2, "1"))
    assert brackets_from_spans([Span(0, 1, "A"), Span(1, 3, "C-A")], length=4) == ["(A*)", "(C-A*", "*)", "*"]


@pytest.mark.parametrize("cell", ["(1|", "1", "|", "((1", "(1))", "()"])
def test_bad_mentions(cell: str) -> None:
    with pytest.raises(BracketError, match=r"brackets such as '\(12'"):
        mentions_from_brackets(["-", cell])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(["V", "ARG0", "C-ARG1"])), max_size=5))
def test_brackets_there_and_back(drawn: list[tuple[int, int, str]]) -> None:
    spans, start = [], 0
    for gap, length, label in drawn:
        spans.append(Span(start + gap, start + gap + length, label))
        start += gap + length
    assert spans_from_brackets(brackets_from_spans(spans, length=start + 1)) == tuple(spans)


@pytest.mark.parametrize(
    ("path", "documents", "count", "frames", "mentions"),
    [("srl/development", 297, 1966, 4952, 0), ("coref/dev.gold_conll", 30, 1575, 0, 3818)],
)
def test_real_corpora(path: str, documents: int, count: int, frames: int, mentions: int) -> None:
    if not (REAL_DATA / path).exists():
        pytest.skip(f"{REAL_DATA / path} is absent")
    read = [document for file in find_files(REAL_DATA / path) for document in read_documents(file)]
    found = [sentence for document in read for sentence in document.sentences]
    assert (len(read), len(found)) == (documents, count)
    assert sum(len(sentence.frames()) for sentence in found) == frames
    assert sum(len(sentence.mentions()) for sentence in found) == mentions
