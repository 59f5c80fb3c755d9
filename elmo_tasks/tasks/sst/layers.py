"""
Biattention, pooling and output of the biattentive classification network (McCann et al.
2017; appendix A.8).
"""

from typing import Annotated

import torch
from allennlp.common import Registrable
from allennlp.modules import FeedForward, Maxout
from allennlp.nn.util import masked_max, masked_mean, masked_softmax, weighted_sum
from torch import Tensor, nn

from elmo_tasks.nn.initialization import glorot
from elmo_tasks.settings import (
    Depth,
    Filled,
    ListOf,
    Probability,
    Width,
    Wrong,
    WrongValues,
    checked,
)


def biattend(inputs: Tensor, mask: Tensor) -> Tensor:
    """
    `C = softmax(X X^T) X`, each token's summary of its text: with one text as both
    inputs, both sides of the biattention are equal. X [B, T, D] and its mask [B, T] ->
    [B, T, D], undefined at padding.
    """
    affinity = inputs @ inputs.transpose(1, 2)  # [B, T, T]
    # Without memory_efficient, masked scores become 0, which may exceed real ones.
    weights = masked_softmax(affinity, mask[:, None], memory_efficient=True)
    return weighted_sum(inputs, weights)  # [B, T, D]


class MultiPooling(nn.Module):
    """
    A text's vector from those of its tokens `x_t`, of width D (McCann et al. 2017,
    section 4):

        [max_t x_t; min_t x_t; mean_t x_t; sum_t softmax_t(w . x_t + b) x_t]

    Unlike in AllenNLP's model, the values of padding have no effect. `dropout` is on
    that vector.
    """

    def __init__(self, input_dim: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.score = nn.Linear(input_dim, 1)
        self.dropout = nn.Dropout(dropout)

    def get_output_dim(self) -> int:
        """Width of the text's vector: 4D."""
        return 4 * self.score.in_features

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Tokens [B, T, D] and their mask [B, T], at least one per text -> [B, 4D]."""
        tokens = mask[:, :, None]  # [B, T, 1]
        inputs = inputs.masked_fill(~tokens, 0.0)
        scores = self.score(inputs)[:, :, 0]  # [B, T]
        weights = masked_softmax(scores, mask, memory_efficient=True)  # [B, T]
        maximum = masked_max(inputs, tokens, dim=1)  # [B, D]
        minimum = -masked_max(-inputs, tokens, dim=1)  # [B, D]
        mean = masked_mean(inputs, tokens, dim=1)  # [B, D], at least float32
        mean = mean.to(inputs.dtype)
        attended = weighted_sum(inputs, weights)  # [B, D]
        return self.dropout(torch.cat([maximum, minimum, mean, attended], 1))


class Head(nn.Module, Registrable):
    """
    Base class; initializes all linear layers with `glorot`. The model sets `input_dim`,
    the width of the text's vector (D), and `classes`, the number of labels (K).
    """

    default_implementation = "elmo_tasks_relu"

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers
        for layer in layers.modules():
            if isinstance(layer, nn.Linear):
                glorot(layer)

    def forward(self, inputs: Tensor) -> Tensor:
        """Vectors [B, D] -> scores [B, K]."""
        return self.layers(inputs)


def require_dropout_per_layer(hidden_sizes: list[int], dropout: list[float]) -> None:
    """Raises `InputError` unless there is a dropout for each layer."""
    layers = len(hidden_sizes)
    if len(dropout) != layers:
        wanted = f"{layers} values, as hidden_sizes has"
        raise WrongValues([Wrong("dropout", wanted, dropout)])


@Head.register("elmo_tasks_relu")
class ReluHead(Head):
    """
    ReLU layers, each followed by dropout, and a linear layer, as in the paper (appendix
    A.8).

    # Parameters

    - `hidden_sizes`: units of each ReLU layer. The paper has two layers and does not
      report their sizes.
    - `dropout`: dropout after each ReLU layer, one number for each.
    """

    @checked
    def __init__(
        self,
        *,
        input_dim: Width,
        classes: Width,
        hidden_sizes: Annotated[ListOf[Width], Filled],
        dropout: ListOf[Probability],
    ) -> None:
        require_dropout_per_layer(hidden_sizes, dropout)
        hidden = FeedForward(
            input_dim, len(hidden_sizes), hidden_sizes, nn.ReLU(), dropout
        )
        super().__init__(nn.Sequential(hidden, nn.Linear(hidden_sizes[-1], classes)))


@Head.register("elmo_tasks_maxout")
class MaxoutHead(Head):
    """
    Maxout layers with dropout between them, as in McCann et al. (2017), without batch
    normalization.

    # Parameters

    - `hidden_sizes`: units of each layer but the last, which has one per class.
    - `dropout`: dropout after each of these layers, one number for each.
    - `pool_size`: number of linear units whose maximum is one maxout unit.
    """

    @checked
    def __init__(
        self,
        *,
        input_dim: Width,
        classes: Width,
        hidden_sizes: ListOf[Width],
        dropout: ListOf[Probability],
        pool_size: Depth = 4,
    ) -> None:
        require_dropout_per_layer(hidden_sizes, dropout)
        sizes = hidden_sizes + [classes]
        rates = dropout + [0.0]
        super().__init__(Maxout(input_dim, len(sizes), sizes, pool_size, rates))
