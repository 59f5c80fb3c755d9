"""
Static vectors: the mean of each word's contextual vectors, and the files that hold
them.
"""

import math
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.vectors.static import frequent_words, mean_vectors
from elmo_tasks.errors import InputError
from elmo_tasks.formats.vector_files import read_vectors
from elmo_tasks.option_values import BatchSizes
from tests.elmo.samples import write_bilm
from tests.test_flow import elmo_tasks

TEXT = [
    "the harbour froze over .",
    "",
    "the ferry left the harbour",
    "over " * 12,
    "the ice .",
]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "in").write_text("\n".join(TEXT) + "\n")
    return tmp_path / "in"


def static(text: Path, out: str | Path, *options: object) -> None:
    options_file, weight_file = write_bilm(text.parent)
    files = ("--model", f"{options_file}+{weight_file}")
    elmo_tasks("static", text, "--output", text.parent / out, *files, *options)


def read(file: Path, width: int = 12) -> dict[str, np.ndarray]:
    return dict(read_vectors(file, width=width))


def test_vectors_are_means_over_the_text(text: Path) -> None:
    sizes = ("--max-length", 6, "--overlap", 2)
    static(text, "v.txt.gz", "--layers", "top", "--min-count", 2, *sizes)
    elmo = Elmo.from_files(*write_bilm(text.parent), max_length=6, overlap=2)
    pairs = list(
        zip(
            " ".join(TEXT).split(),
            np.concatenate(elmo.embed(TEXT, layers="top")),
            strict=True,
        )
    )
    found = read(text.parent / "v.txt.gz")
    assert list(found) == ["over", "the", "harbour", "."]
    for word, vector in found.items():
        assert np.allclose(
            vector,
            np.mean([one for other, one in pairs if other == word], 0),
            atol=1e-4,
        )


@pytest.mark.parametrize("layer", [1, "top"])
def test_a_file_with_the_name_of_its_layer(
    text: Path, layer: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(text.parent)
    out = Path(str(layer))
    out.touch()
    static(text, out, "--min-count", 1, "--layers", layer, "--most", 3, "--force")
    assert out.read_bytes().startswith(b"3 12\n")
    elmo = Elmo.from_files(*write_bilm(text.parent))
    expected = elmo.mean_vectors(TEXT, ["over"], layers=layer)[0]
    assert np.allclose(read(out)["over"], expected, atol=1e-4)


class Scattered:
    """A model of one layer whose vectors have sizes of 1 to 10^9."""

    has_layers = False
    width = 3

    def __init__(self) -> None:
        self.seen: dict[str, list[np.ndarray]] = {}
        self._random = np.random.default_rng(7)

    def vectors(self, sentences: list[list[str]], names: list[str]) -> np.ndarray:
        shape = (len(sentences), max(map(len, sentences)), self.width)  # [B, T, D]
        found = (10 ** self._random.uniform(0, 9, shape)).astype(np.float32)
        for row, words in zip(found, sentences, strict=True):
            for vector, word in zip(row, words, strict=False):
                self.seen.setdefault(word, []).append(vector)
        return found[None]


def test_sums_lose_no_digits() -> None:
    model = Scattered()
    text = [["often", "seldom", "often", "often"]] * 2000
    found = mean_vectors(model, BatchSizes(), text, ["seldom", "often"])
    for word, vector in zip(["seldom", "often"], found, strict=True):
        for axis in range(model.width):
            values = [float(one[axis]) for one in model.seen[word]]
            exact = math.fsum(values) / len(values)
            assert vector[axis] == pytest.approx(exact, rel=1e-7)


def test_errors(text: Path) -> None:
    old = text.parent / "old"
    old.touch()
    _, weights = write_bilm(text.parent)
    for arguments, message in (
        ((text, "old"), "the file exists"),
        (
            (text, "v", "--min-count", 99),
            "expected words that occur 99 times, got none",
        ),
        ((text, "v", "--layers", "all"), "layers: expected one vector per word"),
        (
            (text, "v", "--column", "words"),
            r"expected a table \(.csv, .tsv, .jsonl, .parquet\)",
        ),
        ((text, "in", "--min-count", 1), "would overwrite an input file"),
        ((text, weights, "--force"), "would overwrite an input file"),
        ((text, old, "--layers", old, "--force"), "would overwrite an input file"),
    ):
        with pytest.raises(InputError, match=message):
            static(*arguments)
    assert not (text.parent / "v").exists()


@pytest.mark.parametrize("word", ["a b", " a", "a\u00a0", "z\ty", ""])
def test_words_that_a_line_of_the_file_cannot_have(word: str) -> None:
    with pytest.raises(InputError, match="expected words without white space"):
        frequent_words([["ice", word]], min_count=1, most=5)
