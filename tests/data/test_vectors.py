"""Word vectors: formats, look-up, what is trained, bad files."""

import gzip
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.modules.token_embedders import TokenEmbedder

from elmo_tasks.data.vectors import FIXED, WordVectors, read_vectors
from elmo_tasks.errors import InputError

TEXT = "the 1 2 3\nmay -1 -2 -3\nHarrow 0.5 0.5 1e-1\nferry 4 4 4\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(TEXT)
    return path


def vocabulary(*words: str) -> Vocabulary:
    return Vocabulary(counter={"tokens": {word: len(words) - place for place, word in enumerate(words)}})


def embedder(file: Path | None, vocab: Vocabulary, **keys: Any) -> WordVectors:
    given = {"type": "elmo_tasks_word_vectors", "embedding_dim": 3, **keys}
    if file is not None:
        given["pretrained_file"] = str(file)
    built = TokenEmbedder.from_params(Params(given), vocab=vocab)
    assert isinstance(built, WordVectors)
    return built


def vectors_of(built: WordVectors, vocab: Vocabulary, *words: str) -> list[list[float]]:
    ids = torch.tensor([[vocab.get_token_index(word) for word in words]])
    return built(ids)[0].tolist()


def test_look_up_as_written_then_lower_cased_then_the_mean(file: Path) -> None:
    vocab = vocabulary("May", "may", "Harrow", "harrow", "sloop")
    built = embedder(file, vocab)
    mean = torch.tensor([[-1.0, -2, -3], [-1, -2, -3], [0.5, 0.5, 0.1]]).mean(0)
    found = torch.tensor(vectors_of(built, vocab, "May", "may", "Harrow", "harrow", "sloop", "unseen"))
    expected = [[-1.0, -2, -3], [-1, -2, -3], [0.5, 0.5, 0.1], mean.tolist(), mean.tolist(), mean.tolist()]
    assert torch.allclose(found, torch.tensor(expected))
    assert built(torch.tensor([[0]])).tolist() == [[[0.0, 0.0, 0.0]]]
    assert built.get_output_dim() == 3


def test_trained_and_fixed_words(file: Path) -> None:
    vocab = vocabulary("the", "sloop")
    built = embedder(file, vocab, every_word=True)
    assert vocab.get_token_index(FIXED) == len(built.weight) == 4
    assert vectors_of(built, vocab, "ferry", "the") == [[4, 4, 4], [1, 2, 3]]
    ids = torch.tensor([[vocab.get_token_index(word) for word in ("ferry", "the", "sloop")] + [0]])
    built(ids).pow(2).sum().backward()
    assert built.weight.grad is not None
    assert built.weight.grad.any(1).tolist() == [False, False, True, True]
    assert "fixed" in built.state_dict() and [name for name, _ in built.named_parameters()] == ["weight"]


def test_only_words_of_the_data_unless_asked(file: Path) -> None:
    vocab = vocabulary("the")
    assert embedder(file, vocab).fixed.shape == (1, 3)
    assert vocab.get_vocab_size() == 4


def test_the_data_must_not_spell_the_end_of_the_trained_words(file: Path) -> None:
    with pytest.raises(InputError, match=f"the data have the word '{FIXED}', which has a meaning of its own"):
        embedder(file, vocabulary("the", FIXED, "may"))
    vocab = vocabulary("the")
    assert [len(embedder(file, vocab).weight) for _ in range(2)] == [3, 3]


def test_not_trainable(file: Path) -> None:
    assert not embedder(file, vocabulary("the"), trainable=False).weight.requires_grad


def test_built_again_from_a_saved_vocabulary_without_the_file(file: Path, tmp_path: Path) -> None:
    vocab = vocabulary("the", "sloop")
    built = embedder(file, vocab, every_word=True)
    vocab.save_to_files(str(tmp_path / "vocabulary"))
    loaded = Vocabulary.from_files(str(tmp_path / "vocabulary"))
    again = embedder(None, loaded, every_word=True)
    again.load_state_dict(built.state_dict())
    words = ("the", "sloop", "ferry", "Harrow", "unseen")
    assert vectors_of(again, loaded, *words) == vectors_of(built, vocab, *words)
    resumed = embedder(file, Vocabulary.from_files(str(tmp_path / "vocabulary")), every_word=True)
    assert resumed.weight.shape == built.weight.shape


def test_words_added_to_the_vocabulary_later(file: Path) -> None:
    vocab = vocabulary("the")
    built = embedder(file, vocab)
    built.extend_vocab(vocab)
    assert built.fixed.shape == (1, 3)
    for word in ("Ferry", "sloop"):
        vocab.add_token_to_namespace(word)
    built.extend_vocab(vocab)
    assert vectors_of(built, vocab, "Ferry", "sloop", "the") == [[4, 4, 4], [1, 2, 3], [1, 2, 3]]


def test_random_without_a_file() -> None:
    built = embedder(None, vocabulary("the", "may"), every_word=True)
    assert built.weight[0].tolist() == [0, 0, 0]
    assert built.weight[1:].abs().min() > 0


def test_every_kind_of_file_reads_alike(file: Path, tmp_path: Path) -> None:
    plain = list(read_vectors(file, width=3))
    packed, headed, spaced = (tmp_path / name for name in ("v.txt.gz", "v.vec", "v.spaced"))
    packed.write_bytes(gzip.compress(TEXT.encode()))
    headed.write_text("4 3\n" + TEXT)
    spaced.write_text(TEXT.replace("\n", " \r\n"))
    for other in (packed, headed, spaced):
        assert [word for word, _ in read_vectors(other, width=3)] == ["the", "may", "Harrow", "ferry"]
        for (_, vector), (_, expected) in zip(read_vectors(other, width=3), plain, strict=True):
            assert numpy.array_equal(vector, expected)


def test_words_that_hold_blanks_or_figures(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(". . . 1 2 3\n1999 4 5 6\nat name@domain 7 8 9\nnan 1 1 1\n1 \u00a03/4 2 2 2\n\u00a0 3 3 3 \n")
    found = {word: vector.tolist() for word, vector in read_vectors(path, width=3)}
    plain = {". . .": [1, 2, 3], "1999": [4, 5, 6], "at name@domain": [7, 8, 9], "nan": [1, 1, 1]}
    assert found == {**plain, "1 \u00a03/4": [2, 2, 2], "\u00a0": [3, 3, 3]}


def test_the_first_of_two_vectors_counts(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("the 1 1 1\nthe 2 2 2\n")
    vocab = vocabulary("the")
    assert vectors_of(embedder(path, vocab), vocab, "the") == [[1, 1, 1]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the 1 2 3\nmay 1 nan 3\n", r"v\.txt:2: 3 finite numbers were wanted, found 'nan' among them"),
        ("the 1 2 3\nunwanted 1 NaN 3\n", r"v\.txt:2: 3 finite numbers were wanted, found 'NaN' among them"),
        ("the 1 2 3\nunwanted -inf 2 3\n", r"v\.txt:2: 3 finite numbers were wanted, found '-inf' among them"),
        ("the 1 2 1e50\n", r"v\.txt:1: 3 finite numbers were wanted, found '1e50' among them"),
        ("the 1 2 x\n", r"v\.txt:1: 3 numbers were wanted, found 'x' among them"),
        ("the 1 2 3 4\n", r"v\.txt:1: a word and 3 numbers were wanted, found 4 numbers \(set embedding_dim"),
        ("the 1 2 3\nferry 1 2\n", r"v\.txt:2: a word and 3 numbers were wanted, found 2 numbers"),
        ("the 1 2 3\n\n", r"v\.txt:2: a word and 3 numbers were wanted, found 0 numbers"),
        ("2 300\nthe 1 2 3\n", r"v\.txt:1: a word and 3 numbers were wanted, found 300 numbers"),
        ("", r"v\.txt: no word vectors found: lines of a word and 3 numbers were wanted"),
        ("4 3\n", r"v\.txt: 4 vectors were announced in line 1, found 0"),
        ("3 3\nthe 1 2 3\nof 4 5 6\n", r"v\.txt: 3 vectors were announced in line 1, found 2 \(is it whole\?\)"),
        ("the 1 2 3\n\0\0", r"v\.txt:2: text was wanted, this is binary"),
        (f"{'9' * 5000} 3\nthe 1 2 3\n", r"v\.txt:1: a count and a width were wanted, found '9{59}$"),
        (f"1 {'9' * 5000}\nthe 1 2 3\n", r"v\.txt:1: a count and a width were wanted, found '1 9{57}$"),
        ("the  1 2 3\n", r"v\.txt:1: a word, one blank and 3 numbers were wanted, found the word 'the '"),
        ("the 1 2 3\n 1 2 3\n", r"v\.txt:2: a word, one blank and 3 numbers were wanted, found the word ''"),
        ("the 1 2 3\n of 1 2 3\n", r"v\.txt:2: a word, one blank and 3 numbers were wanted, found the word ' of'"),
        ("the 1 2 3\rof 4 5 6\rmay 7 8 9\r", r"v\.txt:1: a carriage return within the line \(old Macintosh"),
        ("the\t1\t2\t3\n", r"v\.txt:1: .* found 0 numbers \(blanks stand before the numbers, here there are tabs"),
        ("the 1 2 1_0\n", r"v\.txt:1: 3 numbers were wanted, found '1_0' among them"),
        ("the 1 2 \u0663\n", r"v\.txt:1: 3 numbers were wanted, found '\u0663' among them"),
        ("the 1 2 3\u00a0\n", r"v\.txt:1: 3 numbers were wanted, found '3\\xa0' among them"),
        (f"the 1 2 {'x' * 5000}\n", r"v\.txt:1: 3 numbers were wanted, found 'x{59} among them$"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        embedder(path, vocabulary("the", "may"))


def test_missing_and_truncated_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_TASKS_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"ELMO_TASKS_DATA is .* at vectors/glove.txt; GloVe: https"):
        embedder(tmp_path / "vectors" / "glove.txt", vocabulary("the"))
    packed = tmp_path / "v.txt.gz"
    packed.write_bytes(gzip.compress(TEXT.encode() * 50)[:-20])
    with pytest.raises(InputError, match="v.txt.gz:.* the gzip stream is truncated"):
        embedder(packed, vocabulary("the"))


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """AllenNLP may have turned propagation off; the counts are read through the module's own logger."""
    logger = logging.getLogger("elmo_tasks.data.vectors")
    logger.addHandler(caplog.handler)
    caplog.set_level(logging.INFO, logger="elmo_tasks.data.vectors")
    yield caplog
    logger.removeHandler(caplog.handler)


def test_counts_are_logged(file: Path, heard: pytest.LogCaptureFixture) -> None:
    embedder(file, vocabulary("May", "the", "sloop"))
    assert "vectors.txt: vectors of 1 of 3 words, 1 more in lower case" in heard.text
    embedder(file, vocabulary("sloop"))
    assert "vectors.txt has no vector for any word of the data" in heard.text
