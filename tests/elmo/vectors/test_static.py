"""
Static vectors: the mean of each word's contextual vectors, and the files that hold
them.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.vectors.static import (
    check_components,
    frequent_words,
    mean_vectors,
    reduce_dimensions,
)
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


def static(text: Path, out: str, *options: object) -> None:
    options_file, weight_file = write_bilm(text.parent)
    files = ("--model", f"{options_file}+{weight_file}")
    elmo_tasks("static", text, "--output", text.parent / out, *files, *options)


def read(file: Path, width: int = 12) -> dict[str, np.ndarray]:
    return dict(read_vectors(file, width=width))


@pytest.fixture
def three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("workers", [1, 2])
def test_vectors_are_means_over_the_text(text: Path, workers: int) -> None:
    static(
        text,
        "v.txt.gz",
        "--layers",
        "top",
        "--min-count",
        2,
        "--workers",
        workers,
        "--max-length",
        6,
        "--overlap",
        2,
    )
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


def test_binary_files_and_layers(text: Path) -> None:
    static(text, "v.bin", "--min-count", 1, "--layers", 1, "--most", 3)
    static(text, "v.txt", "--min-count", 1, "--layers", 1, "--most", 3)
    head, _, body = (text.parent / "v.bin").read_bytes().partition(b"\n")
    assert head == b"3 12"
    exact = read(text.parent / "v.bin")
    assert list(exact) == list(read(text.parent / "v.txt"))
    for word, vector in read(text.parent / "v.txt").items():
        assert np.allclose(exact[word], vector, atol=1e-4)
        start = body.index(f"{word} ".encode()) + len(word) + 1
        assert np.allclose(
            np.frombuffer(body[start : start + 48], "<f4"), vector, atol=1e-4
        )


def test_principal_components() -> None:
    rng = np.random.default_rng(1)
    common = rng.normal(size=(1, 6))
    vectors = (
        rng.normal(size=(200, 1)) * 50 * common + rng.normal(size=(200, 6)) + 9
    ).astype(np.float32)
    removed = reduce_dimensions(vectors, remove=1)
    assert (
        np.abs(removed.mean(0)).max() < 1e-3 and np.abs(removed @ common.T).max() < 0.5
    )
    assert np.linalg.matrix_rank(removed, tol=1e-2) == 5
    three = reduce_dimensions(vectors, remove=1, dimensions=3)
    all_of_them = reduce_dimensions(vectors, remove=1, dimensions=5)
    assert np.allclose(all_of_them @ all_of_them.T, removed @ removed.T, atol=1e-2)
    assert np.allclose(three, all_of_them[:, :3]) and np.all(
        np.diff(all_of_them.var(0)) < 0
    )
    assert reduce_dimensions(vectors) is vectors


def test_there_are_not_as_many_components() -> None:
    check_components(5, remove=2, dimensions=3)
    check_components(5, remove=4, dimensions=None)
    with pytest.raises(
        InputError,
        match="expected at most 5 components together, got 3 to remove and 3 to keep",
    ):
        check_components(5, remove=3, dimensions=3)
    with pytest.raises(InputError, match="got 5 to remove and 1 to keep"):
        check_components(5, remove=5, dimensions=None)
    check_components(5, remove=1, dimensions=1, count=3)
    check_components(5, remove=0, dimensions=None, count=1)
    for remove, dimensions in ((0, 3), (2, None)):
        with pytest.raises(InputError, match="at most 2 components together, of 3 wor"):
            check_components(5, remove=remove, dimensions=dimensions, count=3)
        with pytest.raises(InputError, match="at most 2 components together, of 3 wor"):
            vectors = np.ones((3, 5), np.float32)
            reduce_dimensions(vectors, remove=remove, dimensions=dimensions)


@settings(max_examples=50)
@given(st.data())
def test_the_most_frequent_words_are_kept(data: st.DataObject) -> None:
    """Also those that are frequent only after many rare words."""
    rare = [[f"rare{number}"] for number in range(data.draw(st.integers(0, 200)))]
    word = st.sampled_from("abcdefghij")
    frequent = data.draw(st.lists(st.lists(word, max_size=5), max_size=40))
    sentences = data.draw(st.permutations([*rare, *rare, rare, frequent]))
    text = [["first"]]
    for part in sentences:
        if part and isinstance(part[0], list):
            text += part
        else:
            text.append(part)
    most = data.draw(st.integers(1, 12))
    counts: dict[str, int] = {}
    for sentence in text:
        for token in sentence:
            counts[token] = counts.get(token, 0) + 1
    by_count = sorted(counts, key=lambda token: -counts[token])
    assert frequent_words(iter(text), min_count=1, most=most) == by_count[:most]


class Scattered:
    """A model of one layer whose vectors have sizes of 1 to 10^9."""

    has_layers = False
    width = 3

    def __init__(self) -> None:
        self.seen: dict[str, list[np.ndarray]] = {}
        self._random = np.random.default_rng(7)

    def vectors(self, sentences: list[list[str]], names: list[str]) -> np.ndarray:
        shape = (len(sentences), max(map(len, sentences)), self.width)  # [B, T, D]
        sizes = 10 ** self._random.uniform(0, 9, shape)
        found = sizes.astype(np.float32)
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


def test_components_lose_no_digits() -> None:
    random = np.random.default_rng(3)
    spread = np.array([1.0, 3.0, 9.0])
    vectors = (1000 + random.normal(size=(300_000, 3)) * spread).astype(np.float32)
    exact = vectors.astype(np.float64)
    exact -= exact.mean(0)
    _, axes = np.linalg.eigh(exact.T @ exact)
    found = reduce_dimensions(vectors, dimensions=3)
    assert np.abs(found.mean(0, dtype=np.float64)).max() < 1e-4
    assert np.allclose(np.abs(found), np.abs(exact @ axes[:, ::-1]), atol=2e-3)


def test_errors(text: Path) -> None:
    (text.parent / "old").touch()
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
    ):
        with pytest.raises(InputError, match=message):
            static(*arguments)
    assert not (text.parent / "v").exists()


@pytest.mark.parametrize("word", ["a b", " a", "a\u00a0", "z\ty", ""])
def test_words_that_a_line_of_the_file_cannot_have(word: str) -> None:
    with pytest.raises(InputError, match="expected words without white space"):
        frequent_words([["ice", word]], min_count=1, most=5)


@pytest.mark.parametrize("name", ["min_count", "most"])
def test_counts_are_positive(name: str) -> None:
    sizes = {"min_count": 1, "most": 5, name: 0}
    with pytest.raises(InputError, match=f"{name}: expected an integer of at least 1"):
        frequent_words([["a"]], **sizes)
