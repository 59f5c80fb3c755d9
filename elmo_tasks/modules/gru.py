"""The bidirectional GRU of the SQuAD model (paper, appendix A.4)."""

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn

from elmo_tasks.ranges import require_sizes

INITIAL_DEVIATION = 0.05
"""The standard deviation of the initial weights, truncated at two deviations (Clark and Gardner 2017)."""


@Seq2SeqEncoder.register("elmo_tasks_gru")
class Gru(Seq2SeqEncoder):
    """
    One bidirectional layer with zero initial states; the values of padding have no effect. Weights are initialized from
    a truncated normal distribution, biases with 0.

    # Parameters

    input_size : `int`
    hidden_size : `int`
        Units per direction.

    # Raises

    `InputError`
        If `hidden_size` is below 1.
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
            True for tokens, which are at the start of each row; a row may be empty.

        # Returns

        `Tensor`, shape [B, T, 2H]; zero at padding.
        """
        # On a CPU this takes less time to train than a packed sequence.
        inputs = torch.where(mask[:, :, None], inputs, 0.0)  # [B, T, D]
        order = reversed_indices(mask)[:, :, None]  # [B, T, 1]
        onward, _ = self.onward(inputs)  # [B, T, H]
        backward, _ = self.backward(inputs.gather(1, order.expand_as(inputs)))  # [B, T, H]
        backward = backward.gather(1, order.expand_as(backward))
        return torch.where(mask[:, :, None], torch.cat([onward, backward], -1), 0.0)  # [B, T, 2H]

    def get_input_dim(self) -> int:
        """D."""
        return self._input_dim

    def get_output_dim(self) -> int:
        """2H."""
        return self._output_dim

    def is_bidirectional(self) -> bool:
        """True; the first half of the output is the forward direction."""
        return True


def reversed_indices(mask: Tensor) -> Tensor:
    """
    The indices that reverse the tokens of each row and leave padding in place.

    # Parameters

    mask : `Tensor`, bool, shape [B, T]

    # Returns

    `Tensor`, int64, shape [B, T]
    """
    indices = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)  # [B, T]
    return torch.where(mask, mask.sum(1, keepdim=True) - 1 - indices, indices)


def initialized(layer: nn.GRU) -> nn.GRU:
    """The layer with the initial values of `Gru`."""
    limit = 2 * INITIAL_DEVIATION
    for name, parameter in layer.named_parameters():
        if name.startswith("weight"):
            nn.init.trunc_normal_(parameter, std=INITIAL_DEVIATION, a=-limit, b=limit)
        else:
            nn.init.zeros_(parameter)
    return layer
