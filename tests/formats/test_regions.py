"""The words of marked regions: those of the whole sentence, each in one region."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.raw_text import open_tokenizer
from elmo_tasks.formats.text.regions import words_of_regions

BASIC, _ = open_tokenizer("basic")
TOKENIZERS = {
    "basic": BASIC,
    "whitespace": str.split,
    "spacy:en": open_tokenizer("spacy:en")[0],
}

REGION = st.lists(
    st.sampled_from(["J.", "Smith", "don't", "Mr.", "p.", "5", "(she", "U.S.", '"No,"'])
    | st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="|")),
    max_size=3,
).map(" ".join)


def test_the_sentence_is_tokenised_as_a_whole() -> None:
    words, regions = words_of_regions("The boy | met J. | Smith | there.", "|", BASIC)
    assert words == ["The", "boy", "met", "J.", "Smith", "there", "."]
    assert regions == [1, 1, 2, 2, 3, 4, 4]
    assert BASIC("J.") == ["J", "."]  # what the regions by themselves would give


@given(st.lists(REGION, max_size=5), st.sampled_from(list(TOKENIZERS)))
@example(["J.", "Smith"], "basic")
@example(["ab", "b", "a b"], "whitespace")
def test_words_and_regions(regions: list[str], name: str) -> None:
    split = TOKENIZERS[name]
    plain = [" ".join(region.split()) for region in regions]
    expected = split(" ".join(plain))
    for marked in ("|".join(regions), " | ".join(regions), regions):
        words, places = words_of_regions(marked, "|", split)
        assert words == expected
        assert places == sorted(places)
        for number, region in enumerate(plain, start=1):
            own = [w for w, place in zip(words, places, strict=True) if place == number]
            assert "".join(own) == region.replace(" ", "")


@pytest.mark.parametrize("mark", [" ", "  "])
def test_regions_between_blanks(mark: str) -> None:
    words, regions = words_of_regions("The boy  met J.  Smith there.", mark, BASIC)
    assert words == ["The", "boy", "met", "J.", "Smith", "there", "."]
    if mark == " ":
        assert regions == [1, 2, 3, 4, 5, 6, 6]
    else:
        assert regions == [1, 1, 2, 2, 3, 3, 3]


def test_empty_regions_count() -> None:
    assert words_of_regions("a||b", "|", str.split) == (["a", "b"], [1, 3])
    assert words_of_regions("|a|", "|", str.split) == (["a"], [2])
    assert words_of_regions("", "|", str.split) == ([], [])


def test_words_that_are_not_in_the_text() -> None:
    with pytest.raises(InputError, match="expected words of the text, got 'CAT'"):
        words_of_regions("the|cat", "|", lambda text: text.upper().split()[1:])
    with pytest.raises(
        InputError, match="expected words inside of a region, got 'a b'"
    ):
        words_of_regions("a|b", "|", lambda text: [text])
