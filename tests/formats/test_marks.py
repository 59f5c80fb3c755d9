"""Typographic marks: which of them a vocabulary lacks, and where the words are."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elmo_tasks.formats.text.basic_tokenizer import basic_tokens
from elmo_tasks.formats.text.marks import FoldedSplit, Folding, Marks
from elmo_tasks.formats.text.regions import words_of_regions

TEXTS = st.text(st.sampled_from("“”‘’—–…‑-.' aEs9|"), max_size=12)
PLAIN = Marks(["'", '"', "-", "--", "..."])


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


@given(TEXTS, st.sampled_from([str.split, basic_tokens, list, str.lower]))
@example("etc… so", basic_tokens)
@example("U.S…", basic_tokens)
def test_words_are_in_the_text(text: str, split: object) -> None:
    """They are read as those of the plain text, in its order, wherever they end."""
    placed = PLAIN.placed(text, split)  # type: ignore[arg-type]
    plain = PLAIN.plain(text)
    words = [one.word for one in placed]
    assert PLAIN.plain_words(words) == list(split(plain))  # type: ignore[operator]
    for one in placed:
        if one.start >= 0 and one.word != PLAIN.plain(one.word):
            assert text[one.start : one.end] == one.word


@given(st.lists(TEXTS, min_size=1, max_size=4))
@example(["He left", "etc… so"])
def test_regions(regions: list[str]) -> None:
    marked = "|".join(regions)
    folding = Folding(PLAIN)
    words, numbers = words_of_regions(marked, "|", FoldedSplit(basic_tokens, folding))
    plain = words_of_regions(PLAIN.plain(marked), "|", basic_tokens)
    assert (PLAIN.plain_words(words), numbers) == plain
    folding(words)
    assert folding.found.total() == len(PLAIN.in_text(marked))
