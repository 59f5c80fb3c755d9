"""Word vectors for scale `mini`: training and file format."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.errors import InputError
from fixtures.generator.word_vectors import WordVectors, train_vectors, write_vectors


def test_training_is_deterministic_and_keeps_the_requested_words(tmp_path: Path) -> None:
    pytest.importorskip("gensim", reason="gensim comes with the extra `vectors`")
    text = tmp_path / "text.txt"
    text.write_text("the dog saw the cat\nthe cat saw a dog\n\na dog ran\n" * 30)
    outs = [tmp_path / name for name in ("one.gz", "two.gz", "other_seed.gz")]
    for out, seed in zip(outs, (1, 1, 2), strict=True):
        trained = train_vectors([text], out, words=["ran", "zebra"], most_frequent=3, dim=4, epochs=2, seed=seed)
    assert trained.words == ("dog", "the", "a", "ran")
    assert outs[0].read_bytes() == outs[1].read_bytes() != outs[2].read_bytes()


def test_file_format(tmp_path: Path) -> None:
    vectors = WordVectors(("é", "b"), np.array([[1.23456, -0.0001], [-2, 0.0005001]], np.float32))
    write_vectors(vectors, tmp_path / "v.gz")
    raw = (tmp_path / "v.gz").read_bytes()
    assert gzip.decompress(raw).decode() == "é 1.235 0.000\nb -2.000 0.001\n"
    assert raw[3:8] == bytes(5), "the header has a file name or a time stamp"
    with pytest.raises(InputError, match="expected at most 20 bytes"):
        write_vectors(vectors, tmp_path / "large.gz", max_bytes=20)
    assert not (tmp_path / "large.gz").exists()
