"""
The encoder of coreference: a bidirectional LSTM with coupled gates (appendix A.6; Lee
et al., 2017).
"""

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.nn.encoders.stacked_lstm import Encoder, without_padding
from elmo_tasks.nn.initialization import glorot_uniform_
from elmo_tasks.nn.linear import linear
from elmo_tasks.settings import Probability, Width, checked

DIRECTIONS = 2


@Seq2SeqEncoder.register("elmo_tasks_coupled_lstm")
class CoupledLstm(Encoder):
    """
    One bidirectional LSTM layer whose forget gate is 1 minus the input gate:

        [i; j; o] = [x_t; d h_(t-1)] W + b
        c_t = (1 - sigmoid(i)) c_(t-1) + sigmoid(i) tanh(j)
        h_t = sigmoid(o) tanh(c_t)

    d is a dropout mask that is constant over a sentence. The initial states `c_0` and
    `h_0` are learned.

    The columns of each gate's W start orthonormal: over input and recurrence together,
    as in e2e-coref's code of 2018, or without `orthonormal_input` over the recurrence
    alone, as in its code of 2017, whose input weights start Glorot-uniform and whose
    bias is the sum of two. All other parameters start Glorot-uniform as in TensorFlow.

    # Parameters

    - `input_size`: width of the input; `InputEncoder` supplies it.
    - `hidden_size`: units per direction (H).
    - `dropout`: variational dropout on the recurrence.
    - `orthonormal_input`: if true, the initial weights of input and recurrence together
      are orthonormal; if false, those of the recurrence only.
    """

    @checked
    def __init__(
        self,
        *,
        input_size: Width,
        hidden_size: Width,
        dropout: Probability = 0.0,
        orthonormal_input: bool = True,
    ) -> None:
        super().__init__(input_dim=input_size, output_dim=DIRECTIONS * hidden_size)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.dropout = dropout
        self.kernel = nn.Parameter(
            torch.empty(DIRECTIONS, input_size + hidden_size, 3 * hidden_size)
        )
        self.bias = nn.Parameter(torch.empty(DIRECTIONS, 3 * hidden_size))
        self.first_cell = nn.Parameter(torch.empty(DIRECTIONS, 1, hidden_size))
        self.first_hidden = nn.Parameter(torch.empty(DIRECTIONS, 1, hidden_size))
        self.reset_parameters(orthonormal_input=orthonormal_input)

    def reset_parameters(self, *, orthonormal_input: bool = True) -> None:
        """Draws all parameters, as the class's docstring says."""
        for direction in range(DIRECTIONS):
            kernel = self.kernel.data[direction]  # [D + H, 3H]
            inputs, recurrence = kernel.split([self.input_size, self.hidden_size])
            orthonormal = recurrence
            if orthonormal_input:
                orthonormal = kernel
            for gate in orthonormal.chunk(3, 1):
                nn.init.orthogonal_(gate)
            for parameter in (self.bias, self.first_cell, self.first_hidden):
                glorot_uniform_(parameter.data[direction])
            if not orthonormal_input:
                glorot_uniform_(inputs)
                second = glorot_uniform_(torch.empty(3 * self.hidden_size))
                self.bias.data[direction] += second

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Words [B, T, D] and their mask [B, T] -> [B, T, 2H]."""
        rows, longest = mask.shape
        indices, batch_sizes = _packed_indices(mask)  # [2, N]
        words = without_padding(inputs, mask)
        flat = words.reshape(rows * longest, self.input_size)  # [B T, D]
        products = self._input_products(flat, indices)  # [2, N, 3H]
        outputs = self._scan(products, batch_sizes, rows)  # [2, N, H]
        unpacked = []
        for direction in range(DIRECTIONS):
            padded = outputs.new_zeros(len(flat), self.hidden_size)  # [B T, H]
            filled = padded.index_copy(0, indices[direction], outputs[direction])
            unpacked.append(filled)
        return torch.cat(unpacked, 1).view(rows, longest, -1)  # [B, T, 2H]

    def _input_products(self, flat: Tensor, indices: Tensor) -> Tensor:
        """`x W + b` of all words, in the order of each direction: [2, N, 3H]."""
        weights = self.kernel[:, : self.input_size]  # [2, D, 3H]
        products = []
        for bias, weight, order in zip(self.bias, weights, indices, strict=True):
            products.append(linear(flat, weight.t(), bias)[order])
        return torch.stack(products)

    def _scan(self, products: Tensor, batch_sizes: list[int], rows: int) -> Tensor:
        """
        Both directions step by step: packed input products [2, N, 3H] -> packed outputs
        [2, N, H].
        """
        weight = self.kernel[:, self.input_size :]  # [2, H, 3H]
        cell = self.first_cell.expand(-1, rows, -1)  # [2, B, H]
        hidden = self.first_hidden.expand(-1, rows, -1)  # [2, B, H]
        kept = functional.dropout(torch.ones_like(hidden), self.dropout, self.training)
        outputs = []
        for step in products.split(batch_sizes, 1):
            running = step.shape[1]
            gates = torch.baddbmm(step, hidden[:, :running] * kept[:, :running], weight)
            gates = gates.to(cell.dtype)  # autocast returns fewer bits
            i, j, o = gates.chunk(3, 2)  # [2, running, H] each
            cell = torch.lerp(cell[:, :running], j.tanh(), i.sigmoid())
            hidden = o.sigmoid() * cell.tanh()
            outputs.append(hidden)
        return torch.cat(outputs, 1)


def _packed_indices(mask: Tensor) -> tuple[Tensor, list[int]]:
    """
    The indices of the words of each step among the B T words, longest sentences first.
    Returns [2, N], forward and backward, and the number of sentences at each step.
    """
    # On the CPU: the numbers of words and steps depend on the mask, and it would wait
    # for a GPU four times.
    lengths, order = mask.sum(1).cpu().sort(descending=True, stable=True)  # [B]
    steps = torch.arange(max(1, int(lengths[0])))[:, None]  # [steps, 1]
    running = steps < lengths  # [steps, B]
    starts = order * mask.shape[1]  # [B]
    forward = (starts + steps)[running]  # [N]
    backward = (starts + lengths - 1 - steps)[running]  # [N]
    return torch.stack([forward, backward]).to(mask.device), running.sum(1).tolist()
