"""A bidirectional GRU, the lowest encoder of the SQuAD model and those above it (paper, appendix A.4)."""

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn

from elmo_tasks.ranges import require_sizes

INITIAL_DEVIATION = 0.05
"""Weights start from a normal distribution of this deviation, cut at twice as much (Clark and Gardner 2017)."""


@Seq2SeqEncoder.register("elmo_tasks_gru")
class Gru(Seq2SeqEncoder):
    """
    One layer in both directions, from zero states. What stands in the padding changes nothing. All weights start from
    the truncated normal distribution of `INITIAL_DEVIATION`, all biases from 0.

    # Parameters

    input_size : `int`
        Width of the input; `LowestLayers` supplies it.
    hidden_size : `int`
        Units per direction.

    # Raises

    `InputError`
        If there are no units.
    """

    def __init__(self, *, input_size: int, hidden_size: int) -> None:
        super().__init__()
        require_sizes(hidden_size=hidden_size)
        self._input_dim, self._output_dim = input_size, 2 * hidden_size
        self.onward, self.backward = (initialized(nn.GRU(input_size, hidden_size, batch_first=True)) for _ in range(2))

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """
        # Parameters

        inputs : `Tensor`, shape [B, T, D]
        mask : `Tensor`, bool, shape [B, T]
            True for tokens, which fill each row from the left; a row may be empty.

        # Returns

        `Tensor`, shape [B, T, 2H]; zero where there is no token.
        """
        # A packed sequence would do the same, at twice the time on a CPU: torch cuts it step by step.
        places = mirrored(mask)[:, :, None]  # [B, T, 1]
        inputs = torch.where(mask[:, :, None], inputs, 0.0)  # [B, T, D]
        onward, _ = self.onward(inputs)  # [B, T, H]
        backward, _ = self.backward(inputs.gather(1, places.expand_as(inputs)))  # [B, T, H]
        backward = backward.gather(1, places.expand_as(backward))
        return torch.where(mask[:, :, None], torch.cat([onward, backward], -1), 0.0)  # [B, T, 2H]

    def get_input_dim(self) -> int:
        """Width of the input."""
        return self._input_dim

    def get_output_dim(self) -> int:
        """Width of the output: both directions."""
        return self._output_dim

    def is_bidirectional(self) -> bool:
        """Always; the first half of the output runs forward."""
        return True


def mirrored(mask: Tensor) -> Tensor:
    """
    For each place of a row the place that it changes with when the row's tokens are turned round.

    # Parameters

    mask : `Tensor`, bool, shape [B, T]

    # Returns

    `Tensor`, int64, shape [B, T]; padding stays where it is.
    """
    places = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)  # [B, T]
    return torch.where(mask, mask.sum(1, keepdim=True) - 1 - places, places)


def initialized(layer: nn.GRU) -> nn.GRU:
    """The layer with the starting values that `Gru` names."""
    cut = 2 * INITIAL_DEVIATION
    for name, parameter in layer.named_parameters():
        if name.startswith("weight"):
            nn.init.trunc_normal_(parameter, std=INITIAL_DEVIATION, a=-cut, b=cut)
        else:
            nn.init.zeros_(parameter)
    return layer
