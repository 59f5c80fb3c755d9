"""The bidirectional GRU of the SQuAD model (paper, appendix A.4)."""

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn

from elmo_tasks.nn.encoder import Encoder
from elmo_tasks.settings import Width, checked

INITIAL_DEVIATION = (
    0.05  # of the initial weights, truncated at two deviations (Clark and Gardner 2017)
)


@Seq2SeqEncoder.register("elmo_tasks_gru")
class Gru(Encoder):
    """
    One bidirectional layer of `hidden_size` units per direction with zero initial states; the values of padding have no
    effect. Weights are initialized from a truncated normal distribution, biases with 0.
    """

    @checked
    def __init__(self, *, input_size: Width, hidden_size: Width) -> None:
        super().__init__(input_dim=input_size, output_dim=2 * hidden_size)
        self.onward, self.backward = (
            initialized(nn.GRU(input_size, hidden_size, batch_first=True))
            for _ in range(2)
        )

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        # On a CPU this takes less time to train than a packed sequence.
        inputs = torch.where(mask[:, :, None], inputs, 0.0)  # [B, T, D]
        order = reversed_indices(mask)[:, :, None]  # [B, T, 1]
        onward, _ = self.onward(inputs)  # [B, T, H]
        backward, _ = self.backward(
            inputs.gather(1, order.expand_as(inputs))
        )  # [B, T, H]
        backward = backward.gather(1, order.expand_as(backward))
        return torch.where(
            mask[:, :, None], torch.cat([onward, backward], -1), 0.0
        )  # [B, T, 2H]


def reversed_indices(mask: Tensor) -> Tensor:
    """The indices, int64 [B, T], that reverse the tokens of each row of a mask [B, T] and leave padding in place."""
    indices = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)  # [B, T]
    return torch.where(mask, mask.sum(1, keepdim=True) - 1 - indices, indices)


def initialized(layer: nn.GRU) -> nn.GRU:
    limit = 2 * INITIAL_DEVIATION
    for name, parameter in layer.named_parameters():
        if name.startswith("weight"):
            nn.init.trunc_normal_(parameter, std=INITIAL_DEVIATION, a=-limit, b=limit)
        else:
            nn.init.zeros_(parameter)
    return layer
