"""A bidirectional GRU, the lowest encoder of the SQuAD model and those above it (paper, appendix A.4)."""

from typing import Any

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
        inputs = torch.where(mask[:, :, None], inputs, 0.0)  # [B, T, D]
        places = mirrored(mask)[:, :, None]  # [B, T, 1]
        onward, backward = (self._library if inputs.is_cuda else self._together)(inputs, places)  # [B, T, H] each
        backward = backward.gather(1, places.expand_as(backward))
        return torch.where(mask[:, :, None], torch.cat([onward, backward], -1), 0.0)  # [B, T, 2H]

    def _library(self, inputs: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """Both directions by torch, the second in the order in which it reads: on a GPU that is cuDNN."""
        return self.onward(inputs)[0], self.backward(inputs.gather(1, places.expand_as(inputs)))[0]

    def _together(self, inputs: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """The same with both directions in one loop: on a CPU torch's two take up to half as long again to train."""
        both = zip(*(layer.all_weights[0] for layer in (self.onward, self.backward)), strict=True)
        weights, recurrent_weights, biases, recurrent_biases = both
        # `linear`, which adds the bias itself, is slower at most sizes.
        read = inputs @ torch.cat(weights).t() + torch.cat(biases)  # [B, T, 6H]
        onward, backward = read.chunk(2, -1)  # [B, T, 3H]
        backward = backward.gather(1, places.expand_as(backward))
        steps = torch.stack([onward, backward]).permute(2, 0, 1, 3)  # [T, 2, B, 3H]
        states: Tensor = _Recurrence.apply(
            steps.contiguous(), torch.stack(recurrent_weights).transpose(1, 2), torch.stack(recurrent_biases)[:, None]
        )
        onward, backward = states.permute(1, 2, 0, 3)  # [B, T, H] each
        return onward, backward

    def get_input_dim(self) -> int:
        """Width of the input."""
        return self._input_dim

    def get_output_dim(self) -> int:
        """Width of the output: both directions."""
        return self._output_dim

    def is_bidirectional(self) -> bool:
        """Always; the first half of the output runs forward."""
        return True


class _Recurrence(torch.autograd.Function):
    """
    Input products [T, 2, B, 3H], recurrent weight [2, H, 3H] and bias [2, 1, 3H] -> states [T, 2, B, H]; the parts of
    3H are the reset gate r, the update gate u and the candidate n: `h_t = (1 - u) n + u h_(t-1)` with
    `n = tanh(read_n + r (U h_(t-1) + c)_n)`.

    The gradient is by hand: all that a step multiplies the state's gradient by is computed for all steps at once, so
    that three operations are left in the loop.
    """

    @staticmethod
    def forward(ctx: Any, read: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        width = weight.shape[1]
        activated, recurrent = read.clone(), torch.empty_like(read)  # [T, 2, B, 3H]
        states = read.new_zeros(len(read) + 1, *read.shape[1:3], width)  # [T + 1, 2, B, H], the first of zeros
        parts = zip(states, states[1:], recurrent, *_split(activated, width), *_split(recurrent, width), strict=False)
        for before, after, product, gates, candidate, for_gates, for_candidate in parts:
            torch.baddbmm(bias, before, weight, out=product)  # [2, B, 3H]
            gates.add_(for_gates).sigmoid_()  # [2, B, 2H]
            candidate.addcmul_(gates[..., :width], for_candidate).tanh_()  # [2, B, H]
            torch.lerp(candidate, before, gates[..., width:], out=after)
        ctx.save_for_backward(activated, recurrent[..., 2 * width :], states, weight)
        return states[1:]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (d_states,) = gradients
        activated, recurrent, states, weight = ctx.saved_tensors
        reset, update, candidate = activated.chunk(3, -1)  # [T, 2, B, H]
        to_candidate = (1.0 - update) * (1.0 - candidate * candidate)
        to_update = (states[:-1] - candidate) * update * (1.0 - update)
        to_reset = to_candidate * recurrent * reset * (1.0 - reset)
        d_product = torch.stack([to_reset, to_update, to_candidate * reset], -2)  # [T, 2, B, 3, H]
        d_state = torch.zeros_like(d_states[0])  # [2, B, H]
        transposed, d_all = weight.transpose(1, 2), torch.empty_like(states[1:])
        for step in range(len(d_states) - 1, -1, -1):
            d_here = torch.add(d_states[step], d_state, out=d_all[step])
            d_step = d_product[step].mul_(d_here[..., None, :]).flatten(-2)  # [2, B, 3H]
            d_state = torch.baddbmm(d_here * update[step], d_step, transposed)
        d_product = d_product.flatten(-2)  # [T, 2, B, 3H]
        d_read = torch.cat([d_product[..., : -candidate.shape[-1]], d_all * to_candidate], -1)
        return d_read, torch.einsum("tdbh,tdbg->dhg", states[:-1], d_product), d_product.sum((0, 2))[:, None]


def _split(steps: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """[T, 2, B, 3H] -> [T, 2, B, 2H] of both gates and [T, 2, B, H] of the candidate."""
    return steps[..., : 2 * width], steps[..., 2 * width :]


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
