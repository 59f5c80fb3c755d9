"""The word vector embedder: look-up, trained and fixed words, saved vocabularies."""

import pickle
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.modules.token_embedders import TokenEmbedder

from elmo_tasks.errors import InputError
from elmo_tasks.nn.indexers import WordIndexer
from elmo_tasks.nn.word_lookup import WordLookup
from elmo_tasks.nn.word_vectors import FIXED, ConcatenatedVectors, WordVectors

TEXT = "the 1 2 3\nmay -1 -2 -3\nHarrow 0.5 0.5 1e-1\nferry 4 4 4\nthe 9 9 9\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(TEXT)
    return path


def vocabulary(*words: str) -> Vocabulary:
    counts = {}
    for place, word in enumerate(words):
        counts[word] = len(words) - place
    return Vocabulary(counter={"tokens": counts})


def embedder(file: Path | None, vocab: Vocabulary, **keys: Any) -> WordVectors:
    given = {"type": "elmo_tasks_word_vectors", "embedding_dim": 3} | keys
    if file is not None:
        given["pretrained_file"] = str(file)
    built = TokenEmbedder.from_params(Params(given), vocab=vocab)
    assert isinstance(built, WordVectors)
    return built


def test_looks_up_the_word_then_the_lower_cased_word_then_the_mean(file: Path) -> None:
    vocab = vocabulary("May", "may", "Harrow", "harrow", "sloop")
    built = embedder(file, vocab)
    mean = torch.tensor([[-1.0, -2, -3], [-1, -2, -3], [0.5, 0.5, 0.1]]).mean(0)
    words = ("May", "may", "Harrow", "harrow", "sloop", "unseen")
    found = torch.tensor(look_up(built, vocab, *words))
    expected = torch.stack([mean] * 6)
    expected[:2] = torch.tensor([-1.0, -2, -3])
    expected[2] = torch.tensor([0.5, 0.5, 0.1])
    assert torch.allclose(found, expected)
    assert built(torch.tensor([[0]])).tolist() == [[[0.0, 0.0, 0.0]]]
    assert built.get_output_dim() == 3
    assert built.fixed.shape == (1, 3)


def test_trained_and_fixed_words(file: Path) -> None:
    vocab = vocabulary("the", "sloop")
    built = embedder(file, vocab, keep_all_pretrained=True)
    assert vocab.get_token_index(FIXED) == len(built.weight) == 4
    assert look_up(built, vocab, "ferry", "the") == [[4, 4, 4], [1, 2, 3]]
    ids = [vocab.get_token_index(word) for word in ("ferry", "the", "sloop")]
    built(torch.tensor([ids + [0]])).pow(2).sum().backward()
    assert built.weight.grad is not None
    assert built.weight.grad.any(1).tolist() == [False, False, True, True]
    assert "fixed" in built.state_dict()
    assert list(dict(built.named_parameters())) == ["weight"]
    assert not embedder(file, vocabulary("the"), trainable=False).weight.requires_grad


def test_random_start_has_the_statistics_of_the_vectors_found(file: Path) -> None:
    file.write_text("sea 10 12\nship 12 14\n")
    vocab = vocabulary("sea", "ship", *[f"new{i}" for i in range(2000)])
    built = embedder(file, vocab, embedding_dim=2, unknown="random")
    new = built.weight[4:2004].detach()  # [2000, 2]
    assert new.mean().item() == pytest.approx(12, abs=0.1)
    assert new.std().item() == pytest.approx(2**0.5, abs=0.1)


def as_archived(
    built: WordVectors, file: Path, vocab: Vocabulary, **keys: Any
) -> tuple[WordVectors, Vocabulary]:
    """
    What AllenNLP makes of an archive: no `pretrained_file`, a copy of the vocabulary,
    the saved state.
    """
    copied = Vocabulary(counter={"tokens": {}})
    copied.extend_from_vocab(vocab)
    loaded = embedder(None, copied, lookup_file=str(file), **keys)
    loaded.load_state_dict(built.state_dict())
    return loaded, copied


def batch(
    vocab: Vocabulary, files: Sequence[Path], *sentences: Sequence[str]
) -> dict[str, torch.Tensor]:
    """
    The words of sentences, as a reader with these `lookup_files` makes a batch of them.
    """
    return batched(WordIndexer(lookup_files=list(files)), vocab, *sentences)


def batched(
    indexer: WordIndexer, vocab: Vocabulary, *sentences: Sequence[str]
) -> dict[str, torch.Tensor]:
    fields = []
    for words in sentences:
        text = TextField([Token(word) for word in words], {"words": indexer})
        fields.append(Instance({"text": text}))
    made = Batch(fields)
    made.index_instances(vocab)
    tensors: dict[str, torch.Tensor] = made.as_tensor_dict()["text"]["words"]
    return tensors


def look_up(
    built: torch.nn.Module, vocab: Vocabulary, *words: str, files: Sequence[Path] = ()
) -> list[list[float]]:
    """The vectors of words as evaluation embeds them."""
    found: list[list[float]] = built(**batch(vocab, files, words))[0].tolist()
    return found


def test_a_lost_file_of_vectors_is_reported_once(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    vocab = vocabulary("the", "dock")
    lean, saved = as_archived(embedder(file, vocab, unknown="zero"), file, vocab)
    file.unlink()
    indexer = WordIndexer(lookup_files=[file])
    for words in (["the", "sloop"], ["Harrow"], ["sloop", "Ferry"]):
        found = lean(**batched(indexer, saved, words))[0].tolist()
        for word, vector in zip(words, found, strict=True):
            assert any(vector) == (word == "the")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert (
        "their file cannot be read; restore the file, or set lookup_file" in caplog.text
    )


def test_how_many_words_a_file_has_is_reported(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "elmo_tasks.nn.word_vectors"):
        embedder(file, vocabulary("the", "THE", "sloop-rigged"))
    (message,) = caplog.messages
    assert message.endswith(": vectors of 1 of 3 words, 1 more in lower case")
    caplog.clear()
    embedder(file, vocabulary("the", "a", "b", "c"))
    assert caplog.messages == []
    embedder(file, vocabulary("the", "a", "b", "c", "d"))
    assert "has vectors of only 1 of 5 words: does the dataset reader" in caplog.text


@pytest.mark.parametrize("normalize", [True, False])
def test_words_that_an_archive_lacks_have_the_vectors_that_it_would_have_had(
    normalize: bool, file: Path
) -> None:
    words = ("the", "Ferry", "may", "sloop", "MAY", "Harrow", "\ud800", "é" * 501)
    keys = {"normalize": normalize}
    vocab = vocabulary("the", "dock")
    built = embedder(file, vocab, unknown="zero", **keys)
    lean, saved = as_archived(built, file, vocab, **keys)
    everything = vocabulary("the", "dock")
    whole = embedder(file, everything, keep_all_pretrained=True, unknown="zero", **keys)
    found = look_up(lean, saved, *words, files=[file])
    assert found == look_up(whole, everything, *words)
    assert len(lean.weight) + len(lean.fixed) == saved.get_vocab_size() == 5, (
        "no other word of the file"
    )


def test_a_file_that_changes_while_it_is_read(file: Path) -> None:
    lookup = WordLookup(file)
    spelling = lookup.find("Ferry", is_unknown=True)
    assert spelling == b"ferry"
    expected = torch.tensor([[0.0, 0, 0], [4, 4, 4], [0, 0, 0]])
    assert torch.equal(lookup.vectors([spelling], 3), expected)
    with pytest.raises(InputError, match="vectors.txt: expected the same vectors as"):
        lookup.vectors([b"sloop"], 2)


def test_a_vector_of_zeros_stays_one(file: Path) -> None:
    file.write_text("nothing 0 0 0\nferry 3 0 4\n")
    vocab = vocabulary("other")
    built = embedder(None, vocab, lookup_file=str(file), normalize=True)
    nothing, ferry = look_up(built, vocab, "nothing", "ferry", files=[file])
    assert nothing == [0, 0, 0]
    assert ferry == pytest.approx([0.6, 0, 0.8])


SENTENCES = [["ferry"], ["the", "dock"], ["sloop", "the", "Harrow", "Ferry"]]
"""Two words of the vocabulary `the`, `dock`; the file has `ferry` and `Harrow`."""


@pytest.fixture
def archived(file: Path) -> tuple[WordVectors, Vocabulary]:
    vocab = vocabulary("the", "dock")
    return as_archived(embedder(file, vocab, unknown="zero"), file, vocab)


def test_each_word_of_a_batch_gets_its_own_vector(
    archived: tuple[WordVectors, Vocabulary], file: Path
) -> None:
    lean, saved = archived
    found = lean(**batch(saved, [file], *SENTENCES))
    ferry, the, harrow, none = [4, 4, 4], [1, 2, 3], [0.5, 0.5, 0.1], [0, 0, 0]
    expected = [
        [ferry, none, none, none],
        [the, none, none, none],
        [none, the, harrow, ferry],
    ]
    assert torch.allclose(found, torch.tensor(expected))


def test_another_process_looks_the_same_vectors_up(
    archived: tuple[WordVectors, Vocabulary], file: Path
) -> None:
    lean, saved = archived
    indexer = WordIndexer(lookup_files=[file])
    expected = lean(**batched(indexer, saved, ["ferry", "may"]))
    sent = pickle.loads(pickle.dumps(indexer))
    assert torch.equal(lean(**batched(sent, saved, ["ferry", "may"])), expected)


def test_a_known_word_is_read_from_the_table(file: Path) -> None:
    """In training, all words are known: their vectors may have changed."""
    vocab = vocabulary("the", "dock")
    built = embedder(file, vocab, lookup_file=str(file))
    with torch.no_grad():
        built.weight += 1
    the, ferry = look_up(built, vocab, "the", "ferry", files=[file])
    assert (the, ferry) == ([2, 3, 4], [4, 4, 4])
    with pytest.raises(InputError, match="lookup_file: expected the pretrained_file"):
        embedder(file, vocab, lookup_file="other.txt")


def test_vectors_that_the_model_does_not_look_up_are_ignored(file: Path) -> None:
    vocab = vocabulary("the")
    built = embedder(file, vocab, unknown="zero")
    assert look_up(built, vocab, "ferry", files=[file]) == [[0, 0, 0]]


def test_a_batch_without_looked_up_vectors_is_an_error(
    archived: tuple[WordVectors, Vocabulary],
) -> None:
    lean, _ = archived
    with pytest.raises(InputError, match="lookup_file: expected .*set lookup_files of"):
        lean(torch.tensor([[1]]))


def test_a_file_of_another_width_is_an_error(
    archived: tuple[WordVectors, Vocabulary], file: Path
) -> None:
    lean, saved = archived
    other = file.with_name("other.txt")
    other.write_text("ferry 3 4\n")
    with pytest.raises(InputError, match="lookup_files.0: expected .* 3, got 2"):
        look_up(lean, saved, "ferry", files=[other])


def test_files_are_concatenated(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("may 3 4\ndock 6 8\n")
    first = {"embedding_dim": 3, "unknown": "zero"}
    second = {"embedding_dim": 2, "unknown": "mean", "normalize": True}
    vocab = vocabulary("the", "may")
    whole: dict[str, Any] = {"type": "elmo_tasks_concatenated_vectors", "parts": []}
    for part, vectors in ((first, file), (second, other)):
        kind = {"type": "elmo_tasks_word_vectors", "pretrained_file": str(vectors)}
        whole["parts"].append(kind | part)
    built = TokenEmbedder.from_params(Params(deepcopy(whole)), vocab=vocab)
    assert isinstance(built, ConcatenatedVectors) and built.get_output_dim() == 5
    the, may, neither = look_up(built, vocab, "the", "may", "other")
    assert the == pytest.approx([1, 2, 3, 0.6, 0.8])
    assert may == pytest.approx([-1, -2, -3, 0.6, 0.8])
    assert neither == pytest.approx([0, 0, 0, 0.6, 0.8])
    lean = ConcatenatedVectors(
        [
            embedder(None, vocab, lookup_file=str(file), **first),
            embedder(None, vocab, lookup_file=str(other), **second),
        ]
    )
    lean.load_state_dict(built.state_dict())
    ferry, dock = look_up(lean, vocab, "ferry", "dock", files=[file, other])
    assert ferry == pytest.approx([4, 4, 4, 0.6, 0.8])
    assert dock == pytest.approx([0, 0, 0, 0.6, 0.8])
    whole["parts"][1]["keep_all_pretrained"] = True
    with pytest.raises(InputError, match="remove keep_all_pretrained"):
        TokenEmbedder.from_params(Params(whole), vocab=vocabulary("the", "may"))
