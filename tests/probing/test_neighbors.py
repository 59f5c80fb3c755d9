"""Neighbours worked by hand: occurrences in a corpus, and words of a file of vectors."""

import math
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.probing import neighbors
from elmo_tasks.probing.index import CorpusIndex, open_index
from elmo_tasks.probing.neighbors import (
    Occurrence,
    cosines,
    nearest_occurrences,
    nearest_words,
    occurrence_in_corpus,
    occurrence_in_sentence,
)
from tests.probing.samples import encoder_of, source_of

ANGLES = {"east": 0, "northeast": 45, "north": 90, "west": 180}
LINES = ["east play", "west play", "northeast Play here", "east play", "north play", "northeast rest"]


def by_word_before(words: list[str], t: int) -> list[list[float]]:
    """In the top layer the direction that the word before names, in layer 0 always the same."""
    angle = math.radians(ANGLES.get(words[t - 1] if t else "", 270))
    return [[1.0, 1.0], [2 * math.cos(angle), 2 * math.sin(angle)]]


SOURCE = source_of(encoder_of(by_word_before))


@pytest.fixture
def index(tmp_path: Path) -> CorpusIndex:
    (tmp_path / "corpus.txt").write_text("\n".join(LINES))
    return open_index(tmp_path / "index", tmp_path / "corpus.txt", SOURCE)


def told(found: list[Occurrence]) -> list[tuple[str, int | None, float]]:
    return [(" ".join(o.words), o.number, round(o.cosine or 0, 2)) for o in found]


def test_by_hand(index: CorpusIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """From `east play`, of which the second is the same sentence and left out."""
    question = occurrence_in_corpus(index, "play", 1)
    assert question.source == Occurrence(["east", "play"], 1, 1)
    expected = [("northeast Play here", 3, 0.71), ("north play", 5, 0.0), ("west play", 2, -1.0)]
    for chunk in (1, 2, 100):
        monkeypatch.setattr(neighbors, "_CHUNK", chunk)
        assert told(nearest_occurrences(index, "play", question, top=9)) == expected
        assert told(nearest_occurrences(index, "play", question, top=2)) == expected[:2]


def test_the_place_in_the_sentence(index: CorpusIndex) -> None:
    found = nearest_occurrences(index, "play", occurrence_in_corpus(index, "play", 1), top=1)
    assert (found[0].words, found[0].place) == (["northeast", "Play", "here"], 1)


def test_any_word(index: CorpusIndex) -> None:
    found = nearest_occurrences(index, "play", occurrence_in_corpus(index, "play", 1), top=2, any_word=True)
    assert told(found) == [("northeast Play here", 3, 0.71), ("northeast rest", None, 0.71)]


def test_a_sentence_of_the_users(index: CorpusIndex) -> None:
    question = occurrence_in_sentence(index, SOURCE.encoder, "PLAY", ["a", "north", "play"])
    assert question.source == Occurrence(["a", "north", "play"], 2)
    found = told(nearest_occurrences(index, "PLAY", question, top=2))
    assert found == [("north play", 5, 1.0), ("northeast Play here", 3, 0.71)]
    same = occurrence_in_sentence(index, SOURCE.encoder, "play", ["north", "play"])
    assert told(nearest_occurrences(index, "play", same, top=1)) == [("northeast Play here", 3, 0.71)]


def test_an_occurrence_that_is_not_there(index: CorpusIndex) -> None:
    for number in (0, 6):
        with pytest.raises(InputError, match=f"occurrence {number} of 'play' was wanted, the corpus has 5$"):
            occurrence_in_corpus(index, "play", number)
    with pytest.raises(InputError, match="of 'gone' was wanted, the corpus has 0"):
        occurrence_in_corpus(index, "gone", 1)
    with pytest.raises(InputError, match=r"a sentence with 'play' was wanted, found 'a play\.'"):
        occurrence_in_sentence(index, SOURCE.encoder, "play", ["a", "play."])


def test_a_vector_without_direction_is_near_to_nothing() -> None:
    rows = np.array([[0.0, 0.0], [0.0, 3.0]], np.float32)
    assert cosines(rows, np.array([0.0, 1.0], np.float32)).tolist() == [0.0, 1.0]
    assert cosines(rows, np.zeros(2, np.float32)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("header", ["", "5 2\n"])
def test_words_of_a_file(tmp_path: Path, header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text(header + "sea 1 0\nPlay 0 1\nplay 0 2\ngame 1 9\nland -1 1\n")
    for chunk in (1, 3, 100):
        monkeypatch.setattr(neighbors, "_CHUNK", chunk)
        found = nearest_words(file, "play", top=3)
        assert found is not None
        assert [(word, round(cosine, 2)) for word, cosine in found] == [("Play", 1.0), ("game", 0.99), ("land", 0.71)]
    assert nearest_words(file, "Sea", top=1) == [("game", pytest.approx(1 / math.sqrt(82)))]
    assert nearest_words(file, "gone", top=1) is None


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("play", "no number"),
        ("", "no number"),
        ("5 0", "no number"),
        (" 1 2", "no word"),
        ("New York 1 2", "'York' among its numbers .a first word that holds blanks needs a line with count and width"),
        ("play\t1\t2", "no number .blanks stand before the numbers, here there are tabs"),
    ],
)
def test_a_first_line_that_tells_no_width(tmp_path: Path, first: str, found: str) -> None:
    (tmp_path / "vectors.txt").write_text(f"{first}\nsea 1 2\n")
    with pytest.raises(InputError, match=f"vectors.txt:1: a word without blanks and its numbers .*, found {found}"):
        nearest_words(tmp_path / "vectors.txt", "sea", top=1)


@pytest.mark.parametrize("first", ["9" * 5000 + " 2", "1 " + "9" * 5000])
def test_a_header_of_thousands_of_digits(tmp_path: Path, first: str) -> None:
    (tmp_path / "vectors.txt").write_text(f"{first}\nsea 1 2\n")
    with pytest.raises(InputError, match="vectors.txt:1: a count and a width were wanted, found '[19]"):
        nearest_words(tmp_path / "vectors.txt", "sea", top=1)


def test_an_empty_file_of_vectors(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("")
    with pytest.raises(InputError, match="word vectors were wanted, the file is empty"):
        nearest_words(tmp_path / "vectors.txt", "play", top=1)
