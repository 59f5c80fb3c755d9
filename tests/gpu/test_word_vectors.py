"""Word vectors that an archive lacks are looked up for a GPU as for the CPU."""

from pathlib import Path

import torch

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
