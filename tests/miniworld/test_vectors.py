"""Word vectors for scale `mini`: the committed file, and the command that made it on a tiny text."""

import gzip
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.miniworld.vectors import WordVectors, corpus_words, train_vectors, word2vec, write_vectors
from tests.tiny import FIXTURES, REAL_DATA

MINIWORLD = FIXTURES / "miniworld"
COMMITTED = MINIWORLD / "vectors" / "w2v.100d.txt.gz"

TEXT = "the dog saw the cat\nthe cat saw a dog\n\na dog ran\n" * 30


@pytest.fixture(scope="module")
def committed() -> WordVectors:
    return read(COMMITTED)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def read(path: Path) -> WordVectors:
    rows = [line.split(" ") for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    return WordVectors(tuple(row[0] for row in rows), np.array([row[1:] for row in rows], np.float32))


def plain(*, words: int = 2) -> WordVectors:
    return WordVectors(tuple("abcdefgh"[:words]), np.full((words, 3), 0.25, np.float32))


def test_committed_format() -> None:
    raw = COMMITTED.read_bytes()
    assert len(raw) <= 3_500_000
    assert raw[:2] == b"\x1f\x8b"
    assert raw[3] == 0, "no file name in the header"
    assert raw[4:8] == bytes(4), "no time stamp in the header"
    lines = gzip.decompress(raw).decode().splitlines()
    assert len(lines) > 5_000
    numbers = [field for line in lines for field in line.split(" ")[1:]]
    assert {len(line.split(" ")) for line in lines} == {101}
    assert {len(number.partition(".")[2]) for number in numbers} == {3}


def test_committed_vectors_are_finite_and_distinct(committed: WordVectors) -> None:
    assert committed.vectors.shape == (len(committed.words), 100)
    assert np.isfinite(committed.vectors).all()
    assert len(set(committed.words)) == len(committed.words)
    assert len(np.unique(committed.vectors, axis=0)) == len(committed.words)


def test_committed_vectors_mean_something(committed: WordVectors) -> None:
    unit = dict(
        zip(committed.words, committed.vectors / np.linalg.norm(committed.vectors, axis=1, keepdims=True), strict=True)
    )
    related = [("Monday", "Tuesday"), ("king", "prince"), ("ran", "walked"), ("red", "white"), ("she", "he")]
    for i, (word, neighbour) in enumerate(related):
        others = [other for j, pair in enumerate(related) if j != i for other in pair]
        assert unit[word] @ unit[neighbour] > max(unit[word] @ unit[other] for other in others)


def test_committed_words_begin_with_the_most_frequent(committed: WordVectors) -> None:
    assert {",", "the", ".", "of", "and", "to", "a", "in"} <= set(committed.words[:12])


def test_committed_words_are_sorted_by_frequency(committed: WordVectors) -> None:
    files = sorted((REAL_DATA / "lm").glob("heldout.[nw][oi]*.txt.gz"))
    if not files:
        pytest.skip(f"{REAL_DATA / 'lm'} is absent")
    assert [file.name for file in files] == ["heldout.novels.txt.gz", "heldout.wikipedia.txt.gz"]
    counts = Counter(word for file in files for word in gzip.decompress(file.read_bytes()).decode().split())
    by_rank = [sum(counts[word] for word in committed.words[start : start + 1000]) for start in range(0, 5000, 1000)]
    assert by_rank == sorted(by_rank, reverse=True)
    assert by_rank[0] > 10 * by_rank[1]


@pytest.mark.parametrize("part", ["lm", "ner"])
def test_lower_case_words_of_the_miniworld_have_vectors(committed: WordVectors, part: str) -> None:
    files = [file for file in (MINIWORLD / part).iterdir() if file.suffix != ".md"]
    assert len(files) >= 2
    lines = [line for file in files for line in file.read_text().splitlines()]
    tokens = [t for line in lines for t in (line.split() if part == "lm" else line.split()[:1]) if t.islower()]
    assert len(tokens) > 5_000
    known = set(committed.words)
    missing = Counter(token for token in tokens if token not in known)
    assert missing.total() < 0.01 * len(tokens), missing.most_common(20)


def test_training_keeps_the_most_frequent_and_the_wanted_words(text: Path, tmp_path: Path) -> None:
    pytest.importorskip("gensim", reason="gensim comes with the extra `vectors`")
    out = tmp_path / "out" / "vectors.gz"
    made = train_vectors([text], out, words=["ran", "zebra"], most_frequent=3, dim=4, epochs=2)
    assert made.words == ("dog", "the", "a", "ran")
    written = read(out)
    assert written.words == made.words
    np.testing.assert_allclose(written.vectors, made.vectors, atol=5.1e-4)
    assert np.abs(written.vectors).max() > 0.01


def test_every_word_keeps_its_own_vector(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim", reason="gensim comes with the extra `vectors`")
    (tmp_path / "text.txt").write_text("cat dog saw the\n" * 30)
    sentences = [["cat", "dog", "saw", "the"]] * 30
    settings = {"vector_size": 4, "negative": 10, "min_count": 5, "epochs": 2, "workers": 1, "seed": 1}
    expected = gensim.models.Word2Vec(sentences, **settings).wv
    made = word2vec([tmp_path / "text.txt"], dim=4, epochs=2)
    assert made.words == ("cat", "dog", "saw", "the") != tuple(expected.index_to_key)
    np.testing.assert_array_equal(made.vectors, [expected[word] for word in made.words])


def test_training_twice_gives_the_same_bytes(text: Path, tmp_path: Path) -> None:
    pytest.importorskip("gensim", reason="gensim comes with the extra `vectors`")
    outs = [tmp_path / name for name in ("one.gz", "two.gz", "other_seed.gz")]
    for out, seed in zip(outs, (1, 1, 2), strict=True):
        train_vectors([text], out, dim=4, epochs=2, seed=seed)
    assert outs[0].read_bytes() == outs[1].read_bytes() != outs[2].read_bytes()


def test_rare_words_are_told(text: Path) -> None:
    pytest.importorskip("gensim", reason="gensim comes with the extra `vectors`")
    with pytest.raises(InputError, match=r"no word occurs 1000 times in the text \(.*text\.txt\)"):
        word2vec([text], min_count=1000)


def test_missing_gensim_is_told(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(InputError, match=r"needs gensim.*pip install 'elmo-tasks\[vectors\]'"):
        word2vec([text])


def test_exact_text_of_a_file(tmp_path: Path) -> None:
    vectors = WordVectors(("é", "b"), np.array([[1.23456, -0.0001], [-2, 0.0005001]], np.float32))
    write_vectors(vectors, tmp_path / "v.gz")
    raw = (tmp_path / "v.gz").read_bytes()
    assert gzip.decompress(raw).decode() == "é 1.235 0.000\nb -2.000 0.001\n"
    assert raw[3:8] == bytes(5), "neither a file name nor a time stamp in the header"


def test_too_large_a_file_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"v\.gz: at most 20 bytes were wanted, 8 words take \d+ \(keep fewer words\)"):
        write_vectors(plain(words=8), tmp_path / "v.gz", max_bytes=20)
    assert list(tmp_path.iterdir()) == []


def test_not_a_number_is_refused(tmp_path: Path) -> None:
    vectors = plain()
    vectors.vectors[1, 2] = np.nan
    with pytest.raises(InputError, match="finite word vectors were wanted"):
        write_vectors(vectors, tmp_path / "v.gz")
    assert list(tmp_path.iterdir()) == []


def test_words_of_files_in_any_format(tmp_path: Path) -> None:
    (tmp_path / "ner").mkdir()
    (tmp_path / "ner" / "eng.train").write_text("Mira NNP I-PER\nran VBD O\n")
    (tmp_path / "trees.txt").write_text("(3 (2 A) (4 (3 well-kept) (2 ship)))\n")
    (tmp_path / "pairs.jsonl").write_text('{"sentence1": "Who\'s there, Harrow?"}\n')
    (tmp_path / "v.txt.gz").write_bytes(gzip.compress(b"zebra 1 2\n"))
    wanted = {"Mira", "ran", "A", "well-kept", "ship", "Who's", "there", "Harrow"}
    assert wanted <= corpus_words(tmp_path) <= wanted | {"NNP", "VBD", "I-PER", "O", "2", "3", "4", "sentence1"}
