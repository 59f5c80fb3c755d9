"""The two output networks of the biattentive classification network: a text's vector -> a score per label."""

from allennlp.common import Registrable
from allennlp.modules import FeedForward, Maxout
from torch import Tensor, nn

from elmo_tasks.nn.initialization import glorot
from elmo_tasks.settings import Probability, Size


class Head(nn.Module, Registrable):
    """
    Base class; initializes all linear layers with `glorot`.

    # Parameters

    - `input_dim`: width of the text's vector (D); set by the model.
    - `classes`: number of labels (K); set by the model.
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


@Head.register("elmo_tasks_relu")
class ReluHead(Head):
    """
    ReLU layers, each followed by dropout, and a linear layer, as in the paper (appendix A.8).

    # Parameters

    - `input_dim`, `classes`: see `Head`.
    - `hidden_sizes`: units of each ReLU layer. The paper has two layers and does not report their sizes.
    - `dropout`: dropout after each ReLU layer.
    """

    def __init__(self, *, input_dim: int, classes: int, hidden_sizes: list[int], dropout: list[float]) -> None:
        hidden = FeedForward(input_dim, len(hidden_sizes), hidden_sizes, [nn.ReLU() for _ in hidden_sizes], dropout)
        super().__init__(nn.Sequential(hidden, nn.Linear(hidden_sizes[-1], classes)))


@Head.register("elmo_tasks_maxout")
class MaxoutHead(Head):
    """
    Maxout layers with dropout between them, as in McCann et al. (2017), without batch normalization.

    # Parameters

    - `input_dim`, `classes`: see `Head`.
    - `hidden_sizes`: units of each layer but the last one, which has one per class.
    - `dropout`: dropout after each of these layers.
    - `pool_size`: each unit is the maximum of so many linear units.
    """

    def __init__(
        self, *, input_dim: int, classes: int, hidden_sizes: list[Size], dropout: list[Probability], pool_size: Size = 4
    ) -> None:
        sizes = [*hidden_sizes, classes]
        super().__init__(Maxout(input_dim, len(sizes), sizes, pool_size, [*dropout, 0.0]))
