"""Typographic marks: which of them a vocabulary lacks, and where the words are."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elmo_tasks.formats.text.basic_tokenizer import basic_tokens
from elmo_tasks.formats.text.marks import Folding, Marks
from elmo_tasks.formats.text.regions import words_of_regions

TEXTS = st.text(st.sampled_from("“”‘’—–…‑-.' aEs9|"), max_size=12)
PLAIN = Marks(["'", '"', "-", "--", "...", "if", "office"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["'", '"', "--", "-", "..."], "\"it's\" 'x' -- - ..."),
        (["``", "''", "`", "'s", "-", "."], "``it's'' `x' - - ..."),
        (["don’t", "“", "”", "—", "'", "-", "..."], "“it’s” 'x’ — - ..."),
        (["the", "cat"], "“it’s” ‘x’ — – …"),
        ([], "“it’s” ‘x’ — – …"),
    ],
)
def test_the_marks_that_a_vocabulary_has(words: list[str], expected: str) -> None:
    assert Marks(words).plain("“it’s” ‘x’ — – …") == expected


def test_what_cannot_be_seen() -> None:
    """Without a vocabulary, nothing is known of a model; a word does not vanish."""
    assert PLAIN.plain("\u200eof\u00adﬁce\ufeff") == "office"
    assert PLAIN.plain("\ufeff") == "\ufeff"
    assert Marks().plain("of\u00adﬁce") == "of\u00adﬁce"
    assert Marks(["of\u00adﬁce"]).plain("of\u00adﬁce") == "of\u00adﬁce"


def test_accents_after_their_letters(caplog: pytest.LogCaptureFixture) -> None:
    decomposed = unicodedata.normalize("NFD", "un café “noir” à")
    folding = Folding(Marks(["un", "café", '"']))
    with folding.reading():
        assert folding(decomposed.split()) == ["un", "café", '"noir"', "à"]
    assert folding.plain_text(decomposed) == 'un café "noir" à'
    [warning] = caplog.messages
    assert warning.startswith("read 4 ")
    assert "U+0301 as one character with its letter (1)" in warning
    assert Marks(["un", "cafe\u0301"]).plain("e\u0301") == "e\u0301"
    assert Marks().plain("e\u0301") == "e\u0301"


def test_the_marks_of_windows_in_a_text_read_as_latin1() -> None:
    marks = "“it’s” ‘x’ — – …".encode("cp1252").decode("latin1")
    assert PLAIN.plain(marks) == "\"it's\" 'x' -- - ..."


def test_a_tokenizer_reads_marks_that_the_vocabulary_has() -> None:
    marks = Marks(["``", "''", "`", "'s", "-", "."])
    assert marks.plain_text("“it’s” – x") == "“it's” - x"
    folding = Folding(marks)
    folding(folding.plain_text("“it’s” – x").split())
    assert folding.found == dict.fromkeys("“’”—", 1)  # – between blanks is —


@given(st.lists(TEXTS, min_size=1, max_size=4))
@example(["He left", "etc… so"])
def test_regions(regions: list[str]) -> None:
    marked = "|".join(regions)
    dashed = re.sub(r"(?<![^\s|])–(?![^\s|])", "—", marked)
    folding = Folding(PLAIN)
    found = words_of_regions(marked, "|", basic_tokens, folding.plain_text)
    assert found == words_of_regions(PLAIN.plain(dashed), "|", basic_tokens)
    assert folding.found.total() == len(PLAIN.in_text(marked))
