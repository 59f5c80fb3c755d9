"""Word vectors for scale `mini`: the committed file, and training on a small text."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.errors import InputError
from fixtures.generator.word_vectors import WordVectors, train_vectors, word2vec, write_vectors
from tests.tiny import FIXTURES


def test_committed_vectors_are_finite_distinct_and_sorted() -> None:
    lines = gzip.decompress((FIXTURES / "miniworld/vectors/w2v.100d.txt.gz").read_bytes()).decode().splitlines()
    words = [line.split(" ")[0] for line in lines]
    vectors = np.array([line.split(" ")[1:] for line in lines], np.float32)
    assert vectors.shape == (len(set(words)), 100) and len(words) > 5_000
    assert np.isfinite(vectors).all()
    assert len(np.unique(vectors, axis=0)) == len(words)
    assert {",", "the", ".", "of", "and", "to", "a", "in"} <= set(words[:12]), "the most frequent words come first"


def test_training_is_deterministic_and_keeps_the_requested_words(tmp_path: Path) -> None:
    pytest.importorskip("gensim", reason="gensim comes with the extra `vectors`")
    text = tmp_path / "text.txt"
    text.write_text("the dog saw the cat\nthe cat saw a dog\n\na dog ran\n" * 30)
    outs = [tmp_path / name for name in ("one.gz", "two.gz", "other_seed.gz")]
    for out, seed in zip(outs, (1, 1, 2), strict=True):
        trained = train_vectors([text], out, words=["ran", "zebra"], most_frequent=3, dim=4, epochs=2, seed=seed)
    assert trained.words == ("dog", "the", "a", "ran")
    assert outs[0].read_bytes() == outs[1].read_bytes() != outs[2].read_bytes()


def test_missing_gensim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(InputError, match=r"requires gensim.*pip install 'elmo-tasks\[vectors\]'"):
        word2vec([])


def test_file_format(tmp_path: Path) -> None:
    vectors = WordVectors(("é", "b"), np.array([[1.23456, -0.0001], [-2, 0.0005001]], np.float32))
    write_vectors(vectors, tmp_path / "v.gz")
    raw = (tmp_path / "v.gz").read_bytes()
    assert gzip.decompress(raw).decode() == "é 1.235 0.000\nb -2.000 0.001\n"
    assert raw[3:8] == bytes(5), "the header contains a file name or a time stamp"


@pytest.mark.parametrize(
    ("value", "max_bytes", "error"),
    [(np.nan, 1000, "expected finite word vectors"), (1.0, 20, r"v\.gz: expected at most 20 bytes, got \d+ bytes")],
)
def test_invalid_vectors_leave_no_file(tmp_path: Path, value: float, max_bytes: int, error: str) -> None:
    vectors = WordVectors(("a", "b"), np.full((2, 3), value, np.float32))
    with pytest.raises(InputError, match=error):
        write_vectors(vectors, tmp_path / "v.gz", max_bytes=max_bytes)
    assert list(tmp_path.iterdir()) == []
