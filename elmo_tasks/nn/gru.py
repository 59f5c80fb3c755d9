"""The bidirectional GRU of the SQuAD model (paper, appendix A.4)."""

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn

from elmo_tasks.nn.encoder import Encoder
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
        self.onward = initialized(nn.GRU(input_size, hidden_size, batch_first=True))
        self.backward = initialized(nn.GRU(input_size, hidden_size, batch_first=True))

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Words [B, T, D] and their mask [B, T] -> [B, T, 2H]."""
        # On a CPU this takes less time to train than a packed sequence.
        inputs = torch.where(mask[:, :, None], inputs, 0.0)  # [B, T, D]
        order = reversed_indices(mask)[:, :, None]  # [B, T, 1]
        onward, _ = self.onward(inputs)  # [B, T, H]
        reversed_inputs = inputs.gather(1, order.expand_as(inputs))
        backward, _ = self.backward(reversed_inputs)  # [B, T, H]
        backward = backward.gather(1, order.expand_as(backward))
        outputs = torch.cat([onward, backward], -1)
        return torch.where(mask[:, :, None], outputs, 0.0)


def reversed_indices(mask: Tensor) -> Tensor:
    """
    The indices, int64 [B, T], that reverse the tokens of each row of a mask [B, T] and
    leave padding in place.
    """
    indices = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)  # [B, T]
    return torch.where(mask, mask.sum(1, keepdim=True) - 1 - indices, indices)


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
