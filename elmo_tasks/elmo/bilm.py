"""Character ids -> the L+1 layers of the bidirectional language model (paper, sections 3.1 and 3.4)."""

from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from elmo_tasks.elmo.characters import BEGIN_OF_SENTENCE, CHARACTERS, END_OF_SENTENCE, token_mask, tokens_to_ids
from elmo_tasks.elmo.held_once import HeldOnce
from elmo_tasks.elmo.lstm import LstmStack, State
from elmo_tasks.elmo.options import BiLmOptions
from elmo_tasks.elmo.packing import Packing
from elmo_tasks.elmo.product import PRECISIONS
from elmo_tasks.elmo.token_encoder import TokenEncoder
from elmo_tasks.elmo.type_cache import TypeCache, is_alike_in_any_company
from elmo_tasks.elmo.uncompiled import uncompiled
from elmo_tasks.errors import InputError

STATES = ("reset", "carry")

DIRECTIONS = ("forward", "backward")

VECTOR_WIDTH = 16
"""Numbers in float32 that the widest vectors of common processors hold."""


class BiLmOutput(NamedTuple):
    """
    # Parameters

    layers : `Tensor`, shape [L+1, B, T, 2P]
        Layer 0 is the token encoder's vector twice, layer k the forward and the backward output of LSTM layer k;
        zero where there is no token.
    mask : `Tensor`, bool, shape [B, T]
    """

    layers: Tensor
    mask: Tensor


class BiLm(nn.Module):
    """
    The bidirectional language model without its softmax.

    # Parameters

    options : `BiLmOptions`
    state : `str`
        `reset`: every sentence starts from zeros, so that its vectors depend on nothing else. `carry`: as upstream,
        row b starts where row b of the batch before ended (rows of a smaller batch leave the others' states alone).
    precision : `str`
        Type of the matrix products: `float32`, or `bfloat16`, which is faster where the processor has it and gives
        vectors whose cosine with those of float32 is above 0.999. States and layers stay in the parameters' type.
    compact : `bool`
        Whether frozen weights are held once on a CPU, in the order and the type in which they compute: as `HeldOnce`.
    """

    boundaries: Tensor

    def __init__(
        self, options: BiLmOptions, *, state: str = "reset", precision: str = "float32", compact: bool = False
    ) -> None:
        super().__init__()
        for key, value, known in (("state", state, STATES), ("precision", precision, PRECISIONS)):
            if value not in known:
                raise InputError(f"{key} must be one of {', '.join(known)}, found {value!r}")
        self.options, self.state, self.compact, self._precision = options, state, compact, precision
        self.token_encoder = TokenEncoder(options)
        self.forward_stack = LstmStack(options)
        self.backward_stack = LstmStack(options)
        boundaries = torch.from_numpy(tokens_to_ids([BEGIN_OF_SENTENCE, END_OF_SENTENCE]).astype("int64"))
        self.register_buffer("boundaries", boundaries, persistent=False)  # [2, C]
        self._carried: dict[str, list[State]] = {}
        self._types: tuple[Hashable, TypeCache | None] = (None, None)

    @classmethod
    def from_files(
        cls,
        options_file: str | Path,
        weight_file: str | Path,
        *,
        state: str = "reset",
        precision: str = "float32",
        compact: bool = False,
    ) -> "BiLm":
        """
        Load a frozen biLM in the official format, in evaluation mode and without gradients.

        # Parameters

        options_file, weight_file : `str` or `Path`
            `options.json` and `weights.hdf5`: paths, or URLs where the package `cached_path` is installed.
        state : `str`
            `reset` or `carry`.
        precision : `str`
            `float32` or `bfloat16`.
        compact : `bool`
            Whether to hold the weights once only, as for the class.

        # Raises

        `InputError` naming the file and all that is wrong with it.
        """
        from elmo_tasks.elmo.weights import load_weights, local_path, require_fitting_size

        options_path, weight_path = local_path(options_file), local_path(weight_file)
        options = BiLmOptions.from_file(options_path)
        require_fitting_size(options, weight_path, options_file=options_path)
        bilm = cls(options, state=state, precision=precision, compact=compact)
        load_weights(bilm, weight_path, options_file=options_path)
        return bilm.eval().requires_grad_(False)

    def save_files(
        self, options_file: str | Path, weight_file: str | Path, *, mantissa_bits: int | None = None
    ) -> None:
        """
        Write the official format, which AllenNLP and bilm-tf load; each file is whole or absent.

        # Parameters

        mantissa_bits : `int`, optional
            Round the float32 values to so many bits after the leading one (0..23), which makes files smaller.
        """
        from elmo_tasks.elmo.weights import save_options, save_weights

        save_weights(self, weight_file, mantissa_bits=mantissa_bits)
        save_options(self.options, options_file)

    @property
    def output_dim(self) -> int:
        """Width of a layer's vector: 2P."""
        return 2 * self.options.projection_dim

    @property
    def n_layers(self) -> int:
        """Layers, the context-free one counted: L+1."""
        return self.options.n_layers + 1

    @property
    def dtype(self) -> torch.dtype:
        """The type of parameters, states and layers."""
        return self.token_encoder.characters.dtype

    @property
    def precision(self) -> str:
        """The type of the matrix products, by its name."""
        lower = self._precision != "float32"
        return self._precision if lower else str(self.dtype).removeprefix("torch.")

    @uncompiled
    def forward(self, character_ids: Tensor) -> BiLmOutput:
        """
        # Parameters

        character_ids : `Tensor`, shape [B, T, 50]
            As `batch_to_ids` gives them: each row's tokens from the left, then zeros. Sentence boundaries are added
            and removed inside; a sentence may be empty.
        """
        mask = token_mask(character_ids)  # [B, T]
        if not len(mask) or (self.state == "reset" and not mask.any()):
            return self._nothing(mask)
        if self.compact:
            self._hold_once()
        packing = Packing.of(mask)
        tokens = self._with_boundaries(character_ids, mask)  # [B * (T + 2), P]
        layers = tokens.new_zeros(self.n_layers, *mask.shape, 2, tokens.shape[1])  # [L+1, B, T, 2, P]
        context_free = tokens.view(*self._padded_shape(mask), -1)[:, 1:-1]
        layers[0] = (context_free * mask[:, :, None])[:, :, None]
        places = ((packing.forward_from, packing.forward_to), (packing.backward_from, packing.backward_to))
        for side, (direction, (read, given)) in enumerate(zip(DIRECTIONS, places, strict=True)):
            for depth, outputs in enumerate(self._run(direction, tokens[read], packing), start=1):
                layers[depth, :, :, side] = outputs[given] * mask[:, :, None]
        return BiLmOutput(layers.flatten(3), mask)

    def requires_grad_(self, requires_grad: bool = True) -> "BiLm":
        """As of every module; the parameters hold the weights then."""
        self.restore()
        return super().requires_grad_(requires_grad)

    def restore(self) -> None:
        """Takes the weights back that a compact biLM gave up, until it computes again; see `HeldOnce`."""
        for layer in self._layers_held():
            layer.restore()

    def reset_states(self) -> None:
        """Forget what `carry` has carried so far."""
        self._carried.clear()

    def carried_states(self) -> dict[str, list[State]]:
        """What `carry` has carried so far: of each direction a cell and a hidden state [B, .] per layer."""
        return dict(self._carried)

    def set_carried_states(self, states: dict[str, list[State]]) -> None:
        """Go on with what `carried_states` gave."""
        self._carried = dict(states)

    def encode_types(self, character_ids: Tensor) -> Tensor:
        """
        The context-free vectors [N, P] of character ids [N, 50], each distinct row computed once; with frozen
        weights on a CPU those of types met lately not at all.
        """
        distinct, index = _distinct_rows(character_ids)
        weights = list(self.token_encoder.parameters())
        learns = any(weight.requires_grad or weight.is_inference() for weight in weights)
        if learns or distinct.device.type != "cpu" or not _are_in_range(distinct):
            return self._encode(distinct)[index]
        made_by = (self._precision, *((id(weight), weight._version, weight.data_ptr()) for weight in weights))
        if self._types[0] != made_by:
            alike = _are_common_widths(self.options) and is_alike_in_any_company(self._encode)
            self._types = made_by, TypeCache() if alike else None
        _, cache = self._types
        return (self._encode(distinct) if cache is None else cache.vectors(distinct, self._encode))[index]

    def _encode(self, character_ids: Tensor) -> Tensor:
        return self.token_encoder(character_ids, precision=self._products)

    @property
    def _products(self) -> torch.dtype | None:
        return PRECISIONS[self._precision] if self._precision != "float32" else None

    def _hold_once(self) -> None:
        """Gives up the weights unless some part learns: its gradient wants the others."""
        if not any(parameter.requires_grad for parameter in self.parameters()):
            for layer in self._layers_held():
                layer.hold_once(self._products or self.dtype)

    def _layers_held(self) -> Iterator[HeldOnce]:
        return (module for module in self.modules() if isinstance(module, HeldOnce))

    def _nothing(self, mask: Tensor) -> BiLmOutput:
        shape = (self.n_layers, *mask.shape, self.output_dim)
        return BiLmOutput(self.boundaries.new_zeros(shape, dtype=self.dtype), mask)

    @staticmethod
    def _padded_shape(mask: Tensor) -> tuple[int, int]:
        return mask.shape[0], mask.shape[1] + 2

    def _with_boundaries(self, character_ids: Tensor, mask: Tensor) -> Tensor:
        """Token vectors with `<S>` before and `</S>` after each sentence, flat: [B * (T + 2), P]."""
        rows, width = self._padded_shape(mask)
        vectors = self.encode_types(torch.cat([self.boundaries, character_ids[mask]]))
        place = torch.zeros(rows, width, dtype=torch.long, device=mask.device)
        place[:, 1:-1][mask] = torch.arange(2, len(vectors), device=mask.device)
        place.scatter_(1, mask.sum(1, keepdim=True) + 1, 1)
        return vectors[place.flatten()]

    def _run(self, direction: str, inputs: Tensor, packing: Packing) -> list[Tensor]:
        """One direction over packed inputs [N, P]: its L layers, each [N, P]."""
        stack: LstmStack = getattr(self, f"{direction}_stack")
        rows = len(packing.order)
        states = self._start(stack, direction, rows)
        ordered = [(cell[packing.order], hidden[packing.order]) for cell, hidden in states]
        outputs, finals = stack(inputs, packing.batch_sizes, ordered, precision=self._products)
        if self.state == "carry":
            self._keep(states, finals, packing.order)
        return outputs

    def _start(self, stack: LstmStack, direction: str, rows: int) -> list[State]:
        """The states that rows 0..rows-1 start from; kept ones grow with zeros for rows never seen."""
        if self.state == "reset":
            return stack.initial_states(rows)
        kept = self._carried.get(direction) or stack.initial_states(0)
        unseen = stack.initial_states(max(0, rows - len(kept[0][0])))
        kept = [
            (torch.cat([cell.to(more_cell), more_cell]), torch.cat([hidden.to(more_hidden), more_hidden]))
            for (cell, hidden), (more_cell, more_hidden) in zip(kept, unseen, strict=True)
        ]
        self._carried[direction] = kept
        return [(cell[:rows], hidden[:rows]) for cell, hidden in kept]

    @staticmethod
    def _keep(states: Sequence[State], finals: Sequence[State], order: Tensor) -> None:
        """Write each row's last state back, in the order of the batch."""
        for kept, final in zip(states, finals, strict=True):
            for old, new in zip(kept, final, strict=True):
                old[order] = new.detach()


def _are_common_widths(options: BiLmOptions) -> bool:
    """Whether all widths of the token encoder fill a processor's vectors."""
    widths = (options.character_dim, options.projection_dim, *(count for _, count in options.filters))
    return all(width % VECTOR_WIDTH == 0 for width in widths)


def _are_in_range(ids: Tensor) -> bool:
    """Whether all are ids of characters; embedding others is an error."""
    return bool(((ids >= 0) & (ids <= CHARACTERS)).all())


def _distinct_rows(ids: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct rows of [N, C] and, for each row, which of them it is: [U, C] and [N]."""
    weights = torch.arange(1, ids.shape[1] + 1, device=ids.device, dtype=torch.long)
    weights = weights * 0x9E3779B97F4A7C1 + weights * weights * 0x632BE59BD9B4E01
    keys = (ids.long() * weights).sum(1)  # [N], a hash modulo 2^64
    _, index = torch.unique(keys, return_inverse=True)
    first = torch.empty(int(index.max()) + 1, dtype=torch.long, device=ids.device)
    first[index] = torch.arange(len(ids), device=ids.device)
    distinct = ids[first]
    if not torch.equal(distinct[index], ids):
        return ids, torch.arange(len(ids), device=ids.device)
    return distinct, index
