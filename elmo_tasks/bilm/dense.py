"""
A biLM for `torch.export` and ONNX: the weights and formulas of `BiLM` without packed
sequences, and without a branch that depends on the data.
"""

import copy

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram
from torch.nn import functional

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.characters import MAX_CHARACTERS, PADDING_ID, fit_slots
from elmo_tasks.bilm.token_encoder import TokenEncoder
from elmo_tasks.errors import InputError

_EXAMPLE = (2, 3)
"""Sentences and words of the ids with which an export is traced."""

_LEAST_TORCH = "2.9"
"""Of those that were tried, torch 2.6 cannot export the loop over the words."""


class DenseBiLM(nn.Module):
    """
    The layers of a biLM for any batch, computed by operators that `torch.export` can
    trace. Padding is computed, too, which takes time and changes nothing.

    It shares the parameters of the biLM, unless this is packed. Every sentence starts
    from zero states. The ids are not checked: padding before a token gives wrong
    layers, where `BiLM` raises an error. Raises `InputError` for a biLM in 8 bits.
    """

    boundaries: Tensor

    def __init__(self, bilm: BiLM) -> None:
        super().__init__()
        if bilm.product_dtype == torch.int8:
            raise InputError("precision: expected float32 or bfloat16, got int8")
        if bilm.is_packed:
            bilm = copy.deepcopy(bilm).unpack()
        self.options = bilm.options
        self.product_dtype = bilm.product_dtype
        self.token_encoder = bilm.token_encoder
        self.forward_stack = bilm.forward_stack
        self.backward_stack = bilm.backward_stack
        self.register_buffer("boundaries", bilm.boundaries, persistent=False)

    def forward(self, character_ids: Tensor) -> tuple[Tensor, Tensor]:
        """
        As `BiLM.forward`: the layers [L+1, B, T, 2P] and the mask [B, T] of ids [B, T,
        C], zero for padding; as a plain tuple, so that a saved program can be loaded
        without this package.
        """
        slots = self.options.max_characters_per_token
        ids = fit_slots(character_ids, slots)
        mask = (ids > PADDING_ID).any(2)  # [B, T]
        ends = mask.sum(1, keepdim=True) + 1  # [B, 1], the positions of </S>
        positions = torch.arange(mask.shape[1] + 2, device=ids.device)  # [T + 2]
        tokens = self._encode(self._with_boundaries(ids, positions, ends))
        # The backward direction reads a sentence from its end; padding stays in place.
        backward = torch.where(
            positions <= ends, ends - positions, positions
        )  # [B, T + 2]
        ahead = self.forward_stack.dense(tokens, precision=self.product_dtype)
        behind = self.backward_stack.dense(
            _at(tokens, backward), precision=self.product_dtype
        )
        layers = [torch.cat([tokens, tokens], 2)]
        for forward_output, backward_output in zip(ahead, behind, strict=True):
            both = [forward_output, _at(backward_output, backward)]
            layers.append(torch.cat(both, 2))  # [B, T + 2, 2P]
        words = torch.stack(layers)[:, :, 1:-1]  # [L+1, B, T, 2P]
        return words * mask[:, :, None], mask

    def _with_boundaries(self, ids: Tensor, positions: Tensor, ends: Tensor) -> Tensor:
        """
        Ids [B, T, C] with `<S>` before and `</S>` after each sentence, [B, T + 2, C].
        """
        begin, end = self.boundaries.unbind()  # [C] each
        around = functional.pad(ids, (0, 0, 1, 1), value=PADDING_ID)  # [B, T + 2, C]
        is_begin = (positions == 0)[:, None]  # [T + 2, 1]
        is_end = (positions == ends)[:, :, None]  # [B, T + 2, 1]
        return torch.where(is_begin, begin, torch.where(is_end, end, around))

    def _encode(self, ids: Tensor) -> Tensor:
        """Context-free vectors [B, T, P] of words with ids [B, T, C]."""
        vectors = self.token_encoder.dense(
            ids.flatten(0, 1), precision=self.product_dtype
        )
        return vectors.unflatten(0, ids.shape[:2])


def _at(vectors: Tensor, positions: Tensor) -> Tensor:
    """The vectors [B, T, P] in another order: those of the positions [B, T]."""
    return vectors.gather(1, positions[:, :, None].expand_as(vectors))


def export_bilm(bilm: BiLM) -> ExportedProgram:
    """
    A biLM as a program of `torch.export`, for any batch and length: ids [B, T, 50] of
    `batch_to_ids`, int64 -> the layers [L+1, B, T, 2P] and the mask [B, T]. B and T are
    1 or more.

    `torch.export.save` writes it to a file, and `torch.onnx.export` converts it. Raises
    `InputError` for a model of ELMoForManyLangs, which reads words from a dictionary,
    and for a torch that is too old.
    """
    if torch.__version__ < _LEAST_TORCH:
        raise InputError(
            f"expected torch {_LEAST_TORCH} or later, got {torch.__version__}"
        )
    if not isinstance(bilm.token_encoder, TokenEncoder):
        expected = "expected a biLM that reads characters alone"
        raise InputError(f"{expected}, got a model of ELMoForManyLangs")
    ids = torch.ones(*_EXAMPLE, MAX_CHARACTERS, dtype=torch.long)
    dimensions = {0: Dim("sentences"), 1: Dim("words")}
    with torch.no_grad():
        return torch.export.export(
            DenseBiLM(bilm).eval(),
            (ids.to(bilm.boundaries.device),),
            dynamic_shapes=(dimensions,),
            strict=False,
        )
