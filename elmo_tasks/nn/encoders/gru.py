"""The bidirectional GRU of the SQuAD model (paper, appendix A.4)."""

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn

from elmo_tasks.nn.encoders.stacked_lstm import Encoder
from elmo_tasks.settings import Width, checked

INITIAL_DEVIATION = 0.05
"""Of the initial weights, truncated at two deviations (Clark and Gardner 2017)."""


@Seq2SeqEncoder.register("elmo_tasks_gru")
class Gru(Encoder):
    """
    One bidirectional GRU layer.

    Initial states are zero, and the values of padding have no effect. Weights are
    initialized from a truncated normal distribution, biases with 0.

    # Parameters

    - `input_size`: width of the input; `InputEncoder` supplies it.
    - `hidden_size`: units per direction.
    """

    @checked
    def __init__(self, *, input_size: Width, hidden_size: Width) -> None:
        super().__init__(input_dim=input_size, output_dim=2 * hidden_size)
        self.onward = initialized(nn.GRU(input_size, hidden_size))
        self.backward = initialized(nn.GRU(input_size, hidden_size))

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Words [B, T, D] and their mask [B, T] -> [B, T, 2H]."""
        # On a CPU this takes less time to train than a packed sequence. Steps come
        # first, as in the GRUs, which would copy the inputs otherwise.
        mask = mask.t()  # [T, B]
        inputs = torch.where(mask[:, :, None], inputs.transpose(0, 1), 0.0)
        inputs = inputs.contiguous()  # [T, B, D]
        order = reversed_rows(mask)  # [T * B]
        onward, _ = self.onward(inputs)  # [T, B, H]
        backward, _ = self.backward(_rows(inputs, order))  # [T, B, H]
        outputs = torch.cat([onward, _rows(backward, order)], -1)  # [T, B, 2H]
        return torch.where(mask[:, :, None], outputs, 0.0).transpose(0, 1)


def reversed_rows(mask: Tensor) -> Tensor:
    """
    The indices, int64 [T * B], that reverse the steps of each sequence of a mask [T,
    B], whose first two axes are flattened, and leave padding in place.
    """
    steps, count = mask.shape
    step = torch.arange(steps, device=mask.device)[:, None].expand_as(mask)  # [T, B]
    reversed_step = torch.where(mask, mask.sum(0) - 1 - step, step)
    return (reversed_step * count + torch.arange(count, device=mask.device)).flatten()


def _rows(inputs: Tensor, order: Tensor) -> Tensor:
    """
    The vectors of inputs [T, B, D] in another order. `gather` would keep the inputs for
    the gradient.
    """
    return inputs.flatten(0, 1).index_select(0, order).view_as(inputs)


def initialized(layer: nn.GRU) -> nn.GRU:
    """
    The layer with weights from the truncated normal distribution, and biases of 0.
    """
    limit = 2 * INITIAL_DEVIATION
    for name, parameter in layer.named_parameters():
        if name.startswith("weight"):
            nn.init.trunc_normal_(parameter, std=INITIAL_DEVIATION, a=-limit, b=limit)
        else:
            nn.init.zeros_(parameter)
    return layer
