"""
Nearest neighbors with known results: occurrences in a corpus, and words of a file of
vectors.
"""

import math
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.neighbors import (
    CorpusIndex,
    Occurrence,
    cosines,
    index_corpus,
    nearest_occurrences,
    nearest_words,
    occurrence_in_corpus,
    read_corpus,
)
from tests.probes.samples import known

ANGLES = {"east": 0, "northeast": 45, "north": 90, "west": 180}
LINES = [
    "east play",
    "west play",
    "northeast Play here",
    "east play",
    "north play",
    "northeast rest",
]


def by_word_before(words: list[str], t: int) -> list[list[float]]:
    """
    The top layer is the direction that the previous word names; layer 0 is constant.
    """
    angle = math.radians(ANGLES.get(words[t - 1] if t else "", 270))
    return [[1.0, 1.0], [2 * math.cos(angle), 2 * math.sin(angle)]]


ENCODER = known(by_word_before)


@pytest.fixture
def index() -> CorpusIndex:
    return index_corpus(map(str.split, LINES), ENCODER)


def shown(found: list[Occurrence]) -> list[tuple[str, int | None, float]]:
    return [(" ".join(o.words), o.number, round(o.cosine or 0, 2)) for o in found]


def test_nearest_occurrences(index: CorpusIndex) -> None:
    """Of `east play`; the other `east play` is left out as the same sentence."""
    source = occurrence_in_corpus(index, "play", 1)
    assert source == Occurrence(["east", "play"], 1, 1)
    assert nearest_occurrences(index, "play", source, top=1)[0].position == 1
    expected = [
        ("northeast Play here", 3, 0.71),
        ("north play", 5, 0.0),
        ("west play", 2, -1.0),
    ]
    for top in (9, 2):
        found = nearest_occurrences(index, "play", source, top=top)
        assert shown(found) == expected[:top]


def test_missing_occurrences(index: CorpusIndex) -> None:
    for word, number in (("play", 0), ("play", 6), ("gone", 1)):
        with pytest.raises(InputError, match=f"occurrence {number} of '{word}'"):
            occurrence_in_corpus(index, word, number)


def test_the_layer() -> None:
    """One that the encoder does not have is an error."""

    encoder = known(lambda words, t: [[float(t)], [float(len(words))]])
    text = [["a"] * 2, ["a"] * 3]
    for layer, values in ((0, [0, 1, 0, 1, 2]), (None, [2, 2, 3, 3, 3])):
        assert index_corpus(text, encoder, layer).vectors[:, 0].tolist() == values
    with pytest.raises(InputError, match="a layer from 0 to 1, got 2"):
        index_corpus([["a"]], encoder, 2)


def test_nearest_words(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text("sea 1 0\nPlay 0 1\nplay 0 2\ngame 1 9\nland -1 1\n")
    found = nearest_words(file, "play", top=3)
    assert found is not None
    assert [(word, round(cosine, 2)) for word, cosine in found] == [
        ("Play", 1.0),
        ("game", 0.99),
        ("land", 0.71),
    ]
    assert nearest_words(file, "Sea", top=1) == [
        ("game", pytest.approx(1 / math.sqrt(82)))
    ]
    assert nearest_words(file, "gone", top=1) is None


def test_the_cosine_of_a_zero_vector_is_zero() -> None:
    rows = np.array([[0.0, 0.0], [0.0, 3.0]], np.float32)
    assert cosines(rows, np.array([0.0, 1.0], np.float32)).tolist() == [0.0, 1.0]


def test_a_table_is_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("item,text\n1,the ferry\n")
    with pytest.raises(InputError, match="x.csv: expected text, got a table"):
        list(read_corpus(tmp_path / "x.csv"))
