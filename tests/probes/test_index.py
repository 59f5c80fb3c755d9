"""The index of a corpus: its contents, resuming an interrupted build, and mismatches."""

from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.elmo.store import TABLE, VALUES
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes import layers
from elmo_tasks.experiments.probes.corpus_text import CorpusText, read_corpus
from elmo_tasks.experiments.probes.index import LOCK, CorpusIndex, open_index
from elmo_tasks.experiments.probes.layers import FrozenEncoder
from tests.elmo.samples import random_bilm
from tests.probes.samples import frozen
from tests.processes import DEAD

LINES = ["The play ended .", "", "  They play   chess in Åbo . ", "a play is a play", "The play ended ."] * 4
WIDTH = 12


@pytest.fixture(scope="module")
def encoder() -> FrozenEncoder:
    return frozen(random_bilm().eval().requires_grad_(False))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "corpus.txt"
    file.write_text("\n".join(LINES))
    return file


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "BLOCK_TOKENS", 20)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != LOCK}


def sentences() -> list[list[str]]:
    return [line.split() for line in LINES if line]


@pytest.mark.parametrize("layer", [0, None])
def test_vectors(tmp_path: Path, corpus: Path, encoder: FrozenEncoder, layer: int | None) -> None:
    index = open_index(tmp_path / "index", corpus, encoder, layer=layer)
    chosen = 2 if layer is None else layer
    expected = [encoder.encode(batch_to_ids([words])).layers[chosen, 0].numpy() for words in sentences()]
    np.testing.assert_allclose(index.vectors, np.concatenate(expected), rtol=6e-4, atol=1e-5)
    assert (index.vectors.dtype, index.layer) == (np.float16, chosen)
    assert isinstance(index.vectors, np.memmap)


def test_text(corpus: Path) -> None:
    text = CorpusText(read_corpus(corpus))
    assert [text.sentence(number) for number in range(len(text))] == sentences() == list(text.sentences(0))
    assert list(text.sentences(14)) == sentences()[14:]
    words = [word for sentence in sentences() for word in sentence]
    for word in ("play", "PLAY", "the", "Åbo", "gone"):
        expected = [place for place, other in enumerate(words) if other.lower() == word.lower()]
        assert text.occurrences(word).tolist() == expected
    starts = np.cumsum([0, *map(len, sentences())])
    for token in range(len(words)):
        number = text.sentence_of(token)
        assert starts[number] <= token < starts[number + 1]
    assert text.same_sentences(["The", "play", "ended", "."]).tolist() == [0, 3, 4, 7, 8, 11, 12, 15]
    assert text.same_sentences(["The", "play", "ended", "gone"]).tolist() == []
    assert text.same_sentences(["play", "The", "ended", "."]).tolist() == []


@pytest.mark.parametrize(("sentences", "tokens"), [(0, 0.3), (3, 23.7), (15, 76)])
def test_a_killed_build(tmp_path: Path, corpus: Path, encoder: FrozenEncoder, sentences: int, tokens: float) -> None:
    """Some rows of the table, half a row, and vectors that have no row yet."""
    folder = tmp_path / "index"
    open_index(folder, corpus, encoder)
    whole = contents(folder)
    (folder / f".index.json.{DEAD}.tmp").write_text("half of th")
    (folder / TABLE).write_bytes(whole[TABLE][: 32 * sentences + 7])
    (folder / VALUES).write_bytes(whole[VALUES][: int(2 * WIDTH * tokens)] + b"torn")
    open_index(folder, corpus, encoder)
    assert contents(folder) == whole


def test_the_index_of_something_else(tmp_path: Path, corpus: Path, encoder: FrozenEncoder) -> None:
    folder, other = tmp_path / "index", tmp_path / "other.txt"
    other.write_text("another play\n")
    open_index(folder, corpus, encoder)
    whole = contents(folder)
    for problem, text, changed in (
        ("corpus_sha256: expected", other, encoder),
        ("weights_sha256: expected v, got w", corpus, encoder._replace(weights_sha256="v")),
    ):
        with pytest.raises(InputError, match=rf"the index of something else: {problem}.*--rebuild"):
            open_index(folder, text, changed)
        assert contents(folder) == whole
    assert open_index(folder, other, encoder, layer=1, rebuild=True).layer == 1


def test_invalid_arguments(tmp_path: Path, corpus: Path, encoder: FrozenEncoder) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")
    for folder, file, layer, message in (
        (tmp_path, corpus, None, r"expected the folder of an index or an empty one, got 'corpus\.txt'"),
        (tmp_path / "index", corpus, 3, "expected a layer from 0 to 2, got 3"),
        (tmp_path / "index", tmp_path / "gone.txt", None, r"gone\.txt: the corpus does not exist"),
        (corpus / "index", corpus, None, "the index cannot be written"),
        (tmp_path / "new", tmp_path / "empty.txt", None, r"empty\.txt: expected one tokenized sentence per line"),
    ):
        with pytest.raises(InputError, match=message):
            open_index(folder, file, encoder, layer=layer)


def test_damaged_files(tmp_path: Path, corpus: Path, encoder: FrozenEncoder) -> None:
    folder = tmp_path / "index"
    open_index(folder, corpus, encoder)
    (folder / VALUES).write_bytes((folder / VALUES).read_bytes()[:-1])
    with pytest.raises(InputError, match=r"the index is damaged .*--rebuild"):
        open_index(folder, corpus, encoder)
    assert isinstance(open_index(folder, corpus, encoder, rebuild=True), CorpusIndex)


def test_concurrent_builds(tmp_path: Path, corpus: Path, encoder: FrozenEncoder) -> None:
    """A complete index needs no lock."""
    open_index(tmp_path / "index", corpus, encoder)
    with FileLock(tmp_path / "index" / LOCK):
        open_index(tmp_path / "index", corpus, encoder)
        with pytest.raises(InputError, match="another process is building this index"):
            open_index(tmp_path / "index", corpus, encoder, rebuild=True)
