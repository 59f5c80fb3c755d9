"""The last layers of the biattentive classification network, of two kinds: a text's vector -> a score per label."""

from collections.abc import Sequence

from allennlp.common import Registrable
from allennlp.modules import FeedForward, Maxout
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.modules.initialization import glorot
from elmo_tasks.ranges import require_dropouts, require_sizes


class Head(nn.Module, Registrable):
    """
    All layers start as `glorot` says.

    # Parameters

    input_dim : `int`
        Width of the text's vector (D); the model supplies it.
    classes : `int`
        How many labels there are (K); the model supplies it.
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
    ReLU layers with dropout behind each, and a linear one on top: what the paper has (appendix A.8).

    # Parameters

    input_dim, classes : `int`
        See `Head`.
    hidden_sizes : `list[int]`
        Units of each ReLU layer; the paper has two layers and does not say how wide.
    dropout : `list[float]`
        As many.
    """

    def __init__(self, *, input_dim: int, classes: int, hidden_sizes: list[int], dropout: list[float]) -> None:
        _check(hidden_sizes, dropout)
        hidden = FeedForward(input_dim, len(hidden_sizes), hidden_sizes, [nn.ReLU() for _ in hidden_sizes], dropout)
        super().__init__(nn.Sequential(hidden, nn.Linear(hidden_sizes[-1], classes)))


@Head.register("elmo_tasks_maxout")
class MaxoutHead(Head):
    """
    Maxout layers with dropout behind each but the last, as McCann et al. (2017) have them, without batch norm.

    # Parameters

    input_dim, classes : `int`
        See `Head`.
    hidden_sizes : `list[int]`
        Units of each layer but the last, which has one for each class.
    dropout : `list[float]`
        As many.
    pool_size : `int`
        Of how many products each unit is the greatest.
    """

    def __init__(
        self, *, input_dim: int, classes: int, hidden_sizes: list[int], dropout: list[float], pool_size: int = 4
    ) -> None:
        _check(hidden_sizes, dropout)
        require_sizes(**{"head.pool_size": pool_size})
        sizes = [*hidden_sizes, classes]
        super().__init__(Maxout(input_dim, len(sizes), sizes, pool_size, [*dropout, 0.0]))


def _check(hidden_sizes: Sequence[int], dropout: Sequence[float]) -> None:
    """
    # Raises

    `InputError`
        If there is no layer, not one dropout for each, or a number is out of range.
    """
    for name, values in (("hidden_sizes", hidden_sizes), ("dropout", dropout)):
        if not isinstance(values, list) or not values or len(values) != len(hidden_sizes):
            raise InputError(f"head.{name} must be a list, a number for each hidden layer, found {values!r}")
    for size, share in zip(hidden_sizes, dropout, strict=True):
        require_sizes(**{"each of head.hidden_sizes": size})
        require_dropouts(**{"each of head.dropout": share})
