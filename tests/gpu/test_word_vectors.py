"""Word vectors that an archive lacks are looked up for a GPU as for the CPU."""

from pathlib import Path

import torch
from allennlp.data import Token

from elmo_tasks.nn.word_indexer import WordIndexer
from tests.gpu.pretend import work_of
from tests.nn.test_word_vectors import TEXT, embedder, vocabulary

SENTENCES = [["ferry", "the", "unseen"], ["may", "Ferry", "Harrow"]]


def indexed_sentences(vocab: object) -> dict[str, torch.Tensor]:
    """A batch as evaluation has it: all words are indexed."""
    indexer = WordIndexer()
    indexed = [
        indexer.tokens_to_indices([Token(word) for word in words], vocab)
        for words in SENTENCES
    ]
    lengths = [indexer.get_padding_lengths(one) for one in indexed]
    widest = {key: max(one[key] for one in lengths) for key in lengths[0]}
    padded = [indexer.as_padded_tensor_dict(one, widest) for one in indexed]
    return {key: torch.stack([one[key] for one in padded]) for key in padded[0]}


def test_looked_up_words(tmp_path: Path, gpu: torch.device) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text(TEXT)
    vocab = vocabulary("the")
    built = embedder(None, vocab, lookup_file=str(file))
    batch = indexed_sentences(vocab)
    expected = built(**batch)
    assert torch.equal(expected[0, 0], torch.tensor([4.0, 4, 4]))
    built.to(gpu)
    found = built(**{key: value.to(gpu) for key, value in batch.items()})
    assert found.device == gpu
    torch.testing.assert_close(found.cpu(), expected)


def test_they_are_sent_together(tmp_path: Path, pretended: torch.device) -> None:
    """It reads spellings and unknown words, and sends places and vectors."""
    file = tmp_path / "vectors.txt"
    file.write_text(TEXT)
    vocab = vocabulary("the")
    built = embedder(None, vocab, lookup_file=str(file)).to(pretended)
    batch = {
        key: value.to(pretended) for key, value in indexed_sentences(vocab).items()
    }
    work = work_of(lambda: built(**batch))
    assert (work.sent.total(), work.waits.total()) == (2, 2), (work.sent, work.waits)
