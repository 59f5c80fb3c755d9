"""Which texts of one word each are taken for the words of a sentence."""

import pytest

from elmo_tasks.formats.raw_text import is_list_of_words


@pytest.mark.parametrize(
    "texts",
    [
        "She left .",
        "the cook left",
        "Mira left",
        "He left. She stayed. then they went",  # two sentences among seven words
        "No , he said",
    ],
)
def test_words_of_a_sentence(texts: str) -> None:
    assert is_list_of_words(texts.split())


@pytest.mark.parametrize(
    "texts",
    [
        ["Yes"],
        ["Yes", "No", "Why"],
        ["Yes.", "No.", "ok"],
        ["Yes.", "no.", "so?", "then"],
        ["two words", "one"],
        ["one", "two"],
        [],
    ],
)
def test_texts_of_one_word(texts: list[str]) -> None:
    assert not is_list_of_words(texts)
