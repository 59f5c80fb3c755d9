"""
A linear layer on the vectors of a token embedder, such as `projection_dim` of
AllenNLP's `elmo_token_embedder`.
"""

from allennlp.modules.token_embedders import TokenEmbedder
from overrides import overrides
from torch import Tensor

from elmo_tasks.nn.linear import Linear
from elmo_tasks.settings import Width, checked


@TokenEmbedder.register("elmo_tasks_projected")
class ProjectedEmbedder(TokenEmbedder):
    """
    A linear layer on the vectors of another embedder.

    # Parameters

    - `embedder`: the other embedder, whose token indexer gives one tensor.
    - `projection_dim`: width of the result (P).
    """

    @checked
    def __init__(self, *, embedder: TokenEmbedder, projection_dim: Width) -> None:
        super().__init__()
        self.embedder = embedder
        self.projection = Linear(embedder.get_output_dim(), projection_dim)

    @overrides
    def get_output_dim(self) -> int:
        return self.projection.out_features

    def forward(self, ids: Tensor) -> Tensor:
        """Ids [B, T, ...] -> [B, T, P]."""
        projected: Tensor = self.projection(self.embedder(ids))
        return projected
