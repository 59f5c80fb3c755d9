"""The character CNN against loops, short words included."""

import torch
from allennlp.modules.seq2vec_encoders import Seq2VecEncoder

from elmo_tasks.modules.character_cnn import CharacterCnn


def test_equals_loops_for_words_shorter_than_the_filter() -> None:
    cnn = CharacterCnn(embedding_dim=2, num_filters=3, width=3)
    cnn.convolution.bias.data = torch.tensor([0.1, -0.2, 0.3])  # type: ignore[union-attr]
    lengths = [5, 2, 1, 0]
    tokens, mask = torch.randn(4, 5, 2), torch.arange(5)[None] < torch.tensor([[5], [2], [1], [0]])
    tokens[~mask] = torch.nan
    vectors = cnn(tokens, mask)
    weight, bias = cnn.convolution.weight, cnn.convolution.bias
    assert bias is not None
    for row, length in enumerate(lengths):
        padded = torch.cat([tokens[row, :length], torch.zeros(2, 2)])
        best = torch.zeros(3)
        for start in range(length):
            window = padded[start : start + 3].T
            best = torch.maximum(best, (weight * window).sum((1, 2)) + bias)
        torch.testing.assert_close(vectors[row], best)


def test_dropout_falls_on_the_characters() -> None:
    cnn = CharacterCnn(embedding_dim=4, num_filters=2, width=1, dropout=1 - 1e-9)
    assert cnn.convolution.bias is not None
    cnn.convolution.bias.data.fill_(0.5)
    tokens, mask = torch.randn(1, 3, 4), torch.ones(1, 3, dtype=torch.bool)
    assert cnn(tokens, mask).tolist() == [[0.5, 0.5]]
    assert cnn.eval()(tokens, mask).tolist() != [[0.5, 0.5]]


def test_registered_with_its_widths() -> None:
    cnn = Seq2VecEncoder.by_name("elmo_tasks_character_cnn")(embedding_dim=2, num_filters=3, width=5)
    assert (cnn.get_input_dim(), cnn.get_output_dim()) == (2, 3)
