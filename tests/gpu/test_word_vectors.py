"""Word vectors that an archive lacks are looked up for a GPU as for the CPU."""

from pathlib import Path

import torch

from tests.gpu.pretend import work_of
from tests.nn.test_word_vectors import TEXT, batch, embedder, vocabulary

SENTENCES = [["ferry", "the", "unseen"], ["may", "Ferry", "Harrow"]]


def test_looked_up_words(tmp_path: Path, gpu: torch.device) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text(TEXT)
    vocab = vocabulary("the")
    built = embedder(None, vocab, lookup_file=str(file))
    sent = batch(vocab, [file], *SENTENCES)
    expected = built(**sent)
    assert torch.equal(expected[0, 0], torch.tensor([4.0, 4, 4]))
    built.to(gpu)
    found = built(**{key: value.to(gpu) for key, value in sent.items()})
    assert found.device == gpu
    torch.testing.assert_close(found.cpu(), expected)


def test_forward_sends_nothing(tmp_path: Path, pretended: torch.device) -> None:
    """The vectors come with the batch, and no operator waits for the device."""
    file = tmp_path / "vectors.txt"
    file.write_text(TEXT)
    vocab = vocabulary("the")
    built = embedder(None, vocab, lookup_file=str(file))
    sent = {}
    for key, value in batch(vocab, [file], *SENTENCES).items():
        sent[key] = value.to(pretended)
    built.to(pretended)
    work = work_of(lambda: built(**sent))
    assert (work.sent.total(), work.waits.total()) == (0, 0), (work.sent, work.waits)
