"""Our biLM in the place of AllenNLP's, in an AllenNLP model."""

import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLM, States


class AllenNlpBiLM(nn.Module):
    """
    A frozen biLM with the interface of AllenNLP's `_ElmoBiLm`, which its `Elmo` calls.

    As there, each batch starts from the states of the previous one, row by row. The
    activations at the sentence boundaries are zero, so that it must not be used with
    `do_layer_norm`, which averages over them, or with `keep_sentence_boundaries`.
    """

    def __init__(self, bilm: BiLM) -> None:
        super().__init__()
        self.bilm = bilm
        self.num_layers = bilm.n_layers  # as AllenNLP calls it
        self._states: States = {}

    def get_output_dim(self) -> int:
        """The width of a layer, 2P."""
        return self.bilm.output_dim

    def forward(
        self, inputs: Tensor, word_inputs: Tensor | None = None
    ) -> dict[str, Tensor | list[Tensor]]:
        """
        Character ids [B, T, C] -> `activations`, the L+1 layers [B, T+2, 2P], and
        `mask`, bool [B, T+2], both with the sentence boundaries. `word_inputs`, ids of
        words whose vectors AllenNLP had cached, are not used.
        """
        with torch.no_grad(), torch.autocast(inputs.device.type, enabled=False):
            output, self._states = self.bilm.carry(inputs, self._states)
        padded = nn.functional.pad(output.layers, (0, 0, 1, 1))  # [L+1, B, T+2, 2P]
        lengths = output.mask.sum(1, keepdim=True) + 2
        positions = torch.arange(padded.shape[2], device=inputs.device)
        return {"activations": list(padded), "mask": positions < lengths}
