"""The index of a corpus: its vectors by a loop, what a killed building leaves, and whose index it is."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from torch import Tensor

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.bilm.bilm import BiLMOutput
from elmo_tasks.errors import InputError
from elmo_tasks.probing import layers
from elmo_tasks.probing.corpus_text import STARTS, CorpusText, read_corpus
from elmo_tasks.probing.index import LOCK, METADATA, PARTIAL, VECTORS, CorpusIndex, open_index
from elmo_tasks.probing.layers import Source
from tests.elmo.samples import random_bilm
from tests.probing.samples import SEMCOR, source_of
from tests.processes import DEAD

LINES = ["The play ended .", "", "  They play   chess in Åbo . ", "a play is a play", "The play ended ."] * 4
WIDTH = 12


@pytest.fixture(scope="module")
def source() -> Source:
    return source_of(random_bilm().eval().requires_grad_(False))


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


@pytest.mark.parametrize("layer", [0, 1, None])
def test_vectors_by_a_loop(tmp_path: Path, corpus: Path, source: Source, layer: int | None) -> None:
    index = open_index(tmp_path / "index", corpus, source, layer=layer)
    chosen = 2 if layer is None else layer
    expected = [source.encoder(batch_to_ids([words])).layers[chosen, 0].numpy() for words in sentences()]
    np.testing.assert_allclose(index.vectors, np.concatenate(expected), rtol=6e-4, atol=1e-5)
    assert (index.vectors.dtype, index.layer) == (np.float16, chosen)
    assert isinstance(index.vectors, np.memmap) and isinstance(index.text.types, np.memmap)


def test_the_words_of_the_corpus(tmp_path: Path, corpus: Path, source: Source) -> None:
    text = open_index(tmp_path / "index", corpus, source).text
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


def test_a_word_sense_corpus() -> None:
    assert len(list(read_corpus(SEMCOR))) == 24


class Killed(BaseException):
    pass


def dying(source: Source, *, after: int) -> Source:
    """The same source, whose process ends at its n-th batch."""
    left = iter(range(after))

    def encode(character_ids: Tensor) -> BiLMOutput:
        if next(left, None) is None:
            raise Killed
        return source.encoder(character_ids)

    return source._replace(encoder=encode)


@pytest.mark.parametrize("after", [1, 2, 3, 4])
def test_a_killed_build_is_resumed_to_the_same_bytes(tmp_path: Path, corpus: Path, source: Source, after: int) -> None:
    open_index(tmp_path / "whole", corpus, source)
    with pytest.raises(Killed):
        open_index(tmp_path / "killed", corpus, dying(source, after=after))
    assert not (tmp_path / "killed" / VECTORS).exists()
    done = (tmp_path / "killed" / PARTIAL).stat().st_size
    assert (after > 1) == (done > 0)
    open_index(tmp_path / "killed", corpus, source)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("tokens", "sound"), [(0, 0), (0.3, 0), (5, 5), (23, 0), (30, 23), (48, 23), (60.7, 48), (76, 72)]
)
def test_whatever_was_written_of_the_vectors(
    tmp_path: Path, corpus: Path, source: Source, tokens: float, sound: int
) -> None:
    """
    Blocks end at tokens 23, 48, 72 and 76. A machine that fails may leave a file of full length whose last block,
    written or not, is empty.
    """
    folder = tmp_path / "index"
    open_index(folder, corpus, source)
    whole = contents(folder)
    (folder / VECTORS).unlink()
    size = int(2 * WIDTH * tokens)
    (folder / PARTIAL).write_bytes(whole[VECTORS][: 2 * WIDTH * sound].ljust(size, b"\0"))
    open_index(folder, corpus, source)
    assert contents(folder) == whole


def test_only_what_is_missing_is_encoded(tmp_path: Path, corpus: Path, source: Source) -> None:
    folder = tmp_path / "index"
    open_index(folder, corpus, source)
    open_index(folder, corpus, dying(source, after=1))  # the one call that asks for the shape
    vectors = (folder / VECTORS).read_bytes()
    (folder / VECTORS).rename(folder / PARTIAL)
    (folder / PARTIAL).write_bytes(vectors[:-1])
    open_index(folder, corpus, dying(source, after=2))
    assert (folder / VECTORS).read_bytes() == vectors


def test_killed_before_the_words_were_written(tmp_path: Path, corpus: Path, source: Source) -> None:
    folder = tmp_path / "index"
    open_index(folder, corpus, source)
    whole = contents(folder)
    for name in ("words.txt", VECTORS):
        (folder / name).unlink()
    (folder / f".words.txt.{DEAD}.tmp").write_text("half of th")
    open_index(folder, corpus, source)
    assert contents(folder) == whole


def differing(corpus: Path, source: Source) -> Iterable[tuple[str, Path, Source, int | None]]:
    other = corpus.with_name("other.txt")
    other.write_text("another play\n")
    yield "corpus_sha256: expected", other, source, None
    yield "weights_sha256: expected v, got w", corpus, source._replace(weights_sha256="v"), None
    yield "options_sha256: expected p, got o", corpus, source._replace(options_sha256="p"), None
    yield "layer: expected 1, got 2", corpus, source, 1


def test_the_index_of_something_else(tmp_path: Path, corpus: Path, source: Source) -> None:
    folder = tmp_path / "index"
    open_index(folder, corpus, source)
    whole = contents(folder)
    for problem, other, changed, layer in differing(corpus, source):
        with pytest.raises(InputError, match=rf"the index of something else: {problem}.*--rebuild replaces it"):
            open_index(folder, other, changed, layer=layer)
        assert contents(folder) == whole
        rebuilt = open_index(folder, other, changed, layer=layer, rebuild=True)
        assert rebuilt.layer == (2 if layer is None else layer)
        assert contents(folder) != whole
        open_index(folder, corpus, source, rebuild=True)
        assert contents(folder) == whole


def test_what_cannot_be_an_index(tmp_path: Path, corpus: Path, source: Source) -> None:
    with pytest.raises(InputError, match=r"expected the folder of an index or an empty one, found 'corpus\.txt'"):
        open_index(tmp_path, corpus, source)
    with pytest.raises(InputError, match="expected a layer from 0 to 2, got 3"):
        open_index(tmp_path / "index", corpus, source, layer=3)
    with pytest.raises(InputError, match=r"gone\.txt: the corpus does not exist"):
        open_index(tmp_path / "index", tmp_path / "gone.txt", source)
    with pytest.raises(InputError, match="the index cannot be written"):
        open_index(corpus / "index", corpus, source)
    assert {path.name for path in tmp_path.iterdir()} == {"corpus.txt"}


def test_a_corpus_without_sentence(tmp_path: Path, source: Source) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(InputError, match=r"empty\.txt: a tokenised sentence a line was wanted, found none"):
        open_index(tmp_path / "index", tmp_path / "empty.txt", source)


def test_damaged_files_are_reported(tmp_path: Path, corpus: Path, source: Source) -> None:
    folder = tmp_path / "index"
    open_index(folder, corpus, source)
    (folder / VECTORS).write_bytes((folder / VECTORS).read_bytes()[:-1])
    with pytest.raises(InputError, match=r"the index is damaged: .*--rebuild"):
        open_index(folder, corpus, source)
    (folder / METADATA).write_text("half of it")
    with pytest.raises(InputError, match=r"the index of something else.*--rebuild"):
        open_index(folder, corpus, source)
    assert isinstance(open_index(folder, corpus, source, rebuild=True), CorpusIndex)


def test_one_builder_at_a_time(tmp_path: Path, corpus: Path, source: Source) -> None:
    (tmp_path / "index").mkdir()
    with FileLock(tmp_path / "index" / LOCK), pytest.raises(InputError, match="another process is building this index"):
        open_index(tmp_path / "index", corpus, source)


def test_sentences_are_read_where_they_stand(tmp_path: Path, corpus: Path) -> None:
    CorpusText.write(corpus, tmp_path)
    assert CorpusText(tmp_path).sentence(1) == ["They", "play", "chess", "in", "Åbo", "."]


@pytest.mark.parametrize("spoil", [lambda file: file.unlink(), lambda file: file.write_bytes(b"junk")])
def test_a_damaged_text_is_reported(
    spoil: Callable[[Path], object], tmp_path: Path, corpus: Path, source: Source
) -> None:
    open_index(tmp_path / "index", corpus, source)
    spoil(tmp_path / "index" / STARTS)
    with pytest.raises(InputError, match=r"index: the index is damaged: .* \(--rebuild replaces it\)"):
        open_index(tmp_path / "index", corpus, source)
    assert open_index(tmp_path / "index", corpus, source, rebuild=True).text.starts[0] == 0
