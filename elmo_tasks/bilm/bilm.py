"""
Character ids -> the L+1 layers of the bidirectional language model (paper, sections 3.1
and 3.4). A least-recently-used cache has the context-free vectors of words, so that
running text costs only its new words.
"""

import copy
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional, Self

import torch
from torch import Tensor, nn

from elmo_tasks.bilm.characters import (
    BEGIN_OF_SENTENCE,
    END_OF_SENTENCE,
    fit_slots,
    token_mask,
    tokens_to_ids,
)
from elmo_tasks.bilm.lstm import LstmStack, State, run_stacks
from elmo_tasks.bilm.options import Ancestry, BiLMOptions, read_ancestry
from elmo_tasks.bilm.packed_linear import can_pack, packable_layers
from elmo_tasks.bilm.packed_sequence import Packing
from elmo_tasks.bilm.precision import (
    INFERENCE_PRECISIONS,
    announced_precision,
    precision_on,
)
from elmo_tasks.bilm.safetensors_weights import load_tensors, save_tensors
from elmo_tasks.bilm.token_encoder import TokenEncoder
from elmo_tasks.bilm.weights import (
    Parts,
    check_size,
    load_weights,
    save_options,
    save_weights,
)
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import named_format, weight_format
from elmo_tasks.option_values import InferencePrecision, MantissaBits
from elmo_tasks.settings import PathLike, checked

CAPACITY = 32768  # words, 64 MB at the paper's size


class WordVectorCache:
    """
    Least-recently-used cache: a word's character ids -> its vector. Safe to use from
    several threads. A copy or a pickle is empty.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._vectors: OrderedDict[bytes, Tensor] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    def __reduce__(self) -> Any:
        return WordVectorCache, (self.capacity,)

    def vectors(
        self, character_ids: Tensor, encode: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """
        `encode(character_ids)`, [N, P], for ids [N, C] on the CPU, where `encode` is
        called only with the words that are not in the cache. There is at least one
        word. A word's vector must not depend on the other words of a call.
        """
        keys = [row.tobytes() for row in character_ids.numpy()]
        with self._lock:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
        missing = [index for index, key in enumerate(keys) if key not in found]
        if missing:
            encoded = encode(character_ids[missing])  # [n, P]
            for index, vector in zip(missing, encoded, strict=True):
                found[keys[index]] = vector.clone()
        with self._lock:
            self._vectors.update(found)
            for key in keys:
                self._vectors.move_to_end(key)
            while len(self._vectors) > self.capacity:
                self._vectors.popitem(last=False)
        return torch.stack([found[key] for key in keys])


logger = logging.getLogger(__name__)

DIRECTIONS = ("forward", "backward")

States = dict[str, list[State]]
"""For each direction, the cell state and output of each layer."""


class LayerOutput(NamedTuple):
    """
    The layers of a batch. Layer 0 is the token encoder's vector, repeated to the width
    of the others; layer k is the forward and backward output of LSTM layer k,
    concatenated.
    """

    layers: Tensor  # [L+1, B, T, 2P], zero for padding
    mask: Tensor  # bool, [B, T], True for tokens


class BiLM(nn.Module):
    """
    The bidirectional language model (paper, section 3.1) without its softmax.

    A new biLM can be trained: its weights are parameters. For inference on a CPU,
    `pack` stores the weights in oneDNN's own memory layout, which saves time and
    memory; `unpack` reverts that.

    # Parameters

    - `precision`: data type of the matrix products: `float32`, or `bfloat16`, which is
      faster on GPUs and on CPUs with AVX512-BF16, AVX-NE-CONVERT or AMX, and gives
      vectors whose cosine with the float32 ones is above 0.999; or `int8`, for
      inference on a CPU with VNNI or AVX2, which is faster still and needs a quarter
      of the memory, with cosines above 0.995. Another CPU computes in float32, with
      weights that are not rounded, and a warning says so; `emulated_bfloat16` is
      bfloat16 on any CPU. States and layers have the parameters' type. `torch.autocast`
      does not change the precision.
    - `initialize`: if false, the weights of the LSTMs are not initialized and must be
      loaded.

    The attribute `ancestry` lists the biLMs from which this one was tuned.
    """

    boundaries: Tensor
    state = "reset"

    @checked
    def __init__(
        self,
        options: BiLMOptions,
        *,
        precision: InferencePrecision = "float32",
        initialize: bool = True,
    ) -> None:
        super().__init__()
        if precision == "int8" and not can_pack(torch.device("cpu"), torch.int8):
            logger.warning(
                "precision int8 needs a CPU with AVX2 and torch with oneDNN: this biLM"
                " computes in float32"
            )
            precision = "float32"
        self.options = options
        self.ancestry: Ancestry = ()
        self._precision = precision
        self.token_encoder = TokenEncoder(options)
        self.forward_stack = LstmStack(options, initialize=initialize)
        self.backward_stack = LstmStack(options, initialize=initialize)
        ids = tokens_to_ids([BEGIN_OF_SENTENCE, END_OF_SENTENCE]).astype("int64")
        boundaries = fit_slots(torch.from_numpy(ids), options.max_characters_per_token)
        self.register_buffer("boundaries", boundaries, persistent=False)  # [2, C]
        self._word_vectors: WordVectorCache | None = None

    @classmethod
    @checked
    def from_files(
        cls,
        options_file: PathLike,
        weight_file: PathLike,
        *,
        precision: InferencePrecision = "float32",
        packed: bool = False,
    ) -> "BiLM":
        """
        Load a frozen biLM, in evaluation mode and without gradients.

        The files are the official `options.json` and `weights.hdf5`, or `config.json`
        and `model.safetensors`, which give the same bits; `elmo.models.files.resolve`
        finds them in whole models and at URLs. If `packed`, the weights are packed for
        inference on a CPU; see `pack`.

        Raises `InputError` naming the file and all that is wrong with it.
        """
        options = BiLMOptions.from_file(options_file)
        check_size(options, weight_file, options_file=options_file)
        bilm = cls(options, precision=precision, initialize=False)
        bilm.ancestry = read_ancestry(options_file)
        bilm.eval().requires_grad_(False)
        pack = bilm._packed_dtype if packed else None
        if weight_format(weight_file) == "safetensors":
            load_tensors(bilm, weight_file, options_file=options_file, pack=pack)
        else:
            parts = bilm._parts()
            load_weights(parts, weight_file, options_file=options_file, pack=pack)
        return bilm

    @checked
    def save_files(
        self,
        options_file: PathLike,
        weight_file: PathLike,
        *,
        mantissa_bits: Optional[MantissaBits] = None,
        compress: bool = True,
    ) -> None:
        """
        Write the official format, which AllenNLP and bilm-tf load, or safetensors if
        `weight_file` ends in `.safetensors`, each file atomically. With `mantissa_bits`
        (0 to 23), values are rounded to that many bits after the leading one, so the
        official files, which are compressed unless `compress` is false, become smaller.
        """
        chosen = named_format(weight_file)
        unpacked = self
        if self.is_packed:
            unpacked = copy.deepcopy(self).unpack()
        if chosen == "safetensors":
            save_tensors(unpacked, weight_file, mantissa_bits=mantissa_bits)
        else:
            save_weights(
                unpacked._parts(),
                weight_file,
                mantissa_bits=mantissa_bits,
                compress=compress,
            )
        save_options(self.options, options_file, chosen=chosen, ancestry=self.ancestry)

    @property
    def is_packed(self) -> bool:
        return any(layer.packed_weights for layer in packable_layers(self))

    def pack(self) -> Self:
        """
        Freeze the biLM and pack its weights for inference on a CPU, as torch's
        quantized modules do.

        Weight matrices are then not among the parameters, and asking for gradients is
        an error. State dictionaries, `load_state_dict`, `save_files`, copies, pickles
        and `to` work as before. With `precision` bfloat16 or int8, weights are rounded
        to it for good.

        Where torch has no packed products for the device and data type, this only
        freezes; a conversion to such a device or data type unpacks.
        """
        self.requires_grad_(False)
        for layer in packable_layers(self):
            layer.pack(self._packed_dtype)
        self._clear_word_vectors()
        return self

    def unpack(self) -> Self:
        """Make packed weights parameters again, still frozen."""
        for layer in packable_layers(self):
            layer.unpack()
        self._clear_word_vectors()
        return self

    def cache_word_vectors(self) -> Self:
        """
        Cache the context-free vectors of the most recently used words between calls, so
        a frequent word is encoded only once. Use it with a frozen biLM: its weights may
        change only through `load_state_dict`, `pack` and `to`, which clear the cache.

        Has no effect on a GPU, or where rounding makes a word's vector depend on the
        words encoded with it; see `TokenEncoder.is_batch_invariant`.
        """
        on_cpu = self.boundaries.device.type == "cpu"
        if on_cpu and self.token_encoder.is_batch_invariant(
            precision=self.product_dtype
        ):
            self._word_vectors = WordVectorCache()
        else:
            self._word_vectors = None
        return self

    @property
    def output_dim(self) -> int:
        """Width of a layer: 2P."""
        return 2 * self.options.projection_dim

    @property
    def n_layers(self) -> int:
        """Number of layers including the context-free one: L+1."""
        return self.options.n_layers + 1

    @property
    def dtype(self) -> torch.dtype:
        """Data type of parameters, states and layers."""
        return self.token_encoder.characters.dtype

    @property
    def precision(self) -> str:
        """Name of the data type of the matrix products."""
        found = precision_on(self.boundaries.device, self._precision)
        if found != "float32":
            return found
        return str(self.dtype).removeprefix("torch.")

    def forward(self, character_ids: Tensor) -> LayerOutput:
        """
        The layers [L+1, B, T, 2P] and the mask [B, T] for character ids [B, T, C] from
        `batch_to_ids`: in each row the tokens come first, then zeros. The biLM adds and
        removes the sentence boundaries itself; a sentence may be empty. Words are
        truncated to `options.max_characters_per_token`.

        Every sentence starts from zero states, so its vectors do not depend on other
        sentences. Raises `InputError` if the ids are invalid.
        """
        return self.carry(character_ids, {})[0]

    def carry(
        self, character_ids: Tensor, states: States
    ) -> tuple[LayerOutput, States]:
        """
        Like `forward`, but row b starts from row b of the states that the previous
        batch returned, as in bilm-tf. `states` has, for each direction and layer, the
        cell state and the output, [B, .]; missing rows start from zeros. Also returns
        the final states; if the batch is smaller than the last one, the states of the
        other rows are kept.
        """
        mask = token_mask(character_ids)  # [B, T]
        if not len(mask):
            return LayerOutput(self._zeros(mask), mask), states
        character_ids = fit_slots(character_ids, self.options.max_characters_per_token)
        packing = Packing.of(mask)
        tokens = self._with_boundaries(character_ids, mask)  # [B * (T + 2), P]
        layers = self._zeros(mask).unflatten(3, (2, -1))  # [L+1, B, T, 2, P]
        context_free = tokens.view(len(mask), -1, tokens.shape[1])[:, 1:-1]
        layers[0] = (context_free * mask[:, :, None])[:, :, None]
        finals: States = {}
        computed = self._run(tokens, packing, states)
        for side, (direction, outputs, finals[direction]) in enumerate(computed):
            _, written = packing.indices(direction)
            for depth, output in enumerate(outputs, start=1):
                layers[depth, :, :, side] = output[written] * mask[:, :, None]
        return LayerOutput(layers.flatten(3), mask), finals

    def encode_types(self, character_ids: Tensor) -> Tensor:
        """
        Context-free vectors [N, P] of words with ids [N, C], computing each distinct
        word once; see `cache_word_vectors`.
        """
        distinct, index = _distinct_rows(character_ids)
        if self._word_vectors is None:
            vectors = self._encode(distinct)
        else:
            vectors = self._word_vectors.vectors(distinct, self._encode)
        return vectors[index]

    def load_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        loaded = super().load_state_dict(*args, **kwargs)
        self._clear_word_vectors()
        return loaded

    def _apply(self, *args: Any, **kwargs: Any) -> Self:
        """Moves or converts the biLM; a packed one is packed again where it can be."""
        is_packed = self.is_packed
        super()._apply(*args, **kwargs)  # unpacks
        device = self.boundaries.device.type
        if self._precision == "int8" and device != "cpu":
            raise InputError(
                f"precision: int8 needs the device cpu, got {device}",
                hint="use float32 or bfloat16",
            )
        if is_packed:
            self.pack()
        self._clear_word_vectors()
        return self

    def _parts(self) -> Parts:
        return Parts(self.token_encoder, self.forward_stack, self.backward_stack)

    def _clear_word_vectors(self) -> None:
        if self._word_vectors is not None:
            self.cache_word_vectors()

    def _encode(self, character_ids: Tensor) -> Tensor:
        with torch.autocast(character_ids.device.type, enabled=False):
            return self.token_encoder(character_ids, precision=self.product_dtype)

    @property
    def product_dtype(self) -> torch.dtype | None:
        """Data type of the matrix products; `None` for that of the parameters."""
        found = announced_precision(self.boundaries.device, self._precision)
        if found == "float32":
            return None
        return INFERENCE_PRECISIONS[found]

    @property
    def _packed_dtype(self) -> torch.dtype:
        found = precision_on(self.boundaries.device, self._precision)
        if found == "float32":
            return self.dtype
        return INFERENCE_PRECISIONS[found]

    def _with_boundaries(self, character_ids: Tensor, mask: Tensor) -> Tensor:
        """
        Word vectors of ids [B, T, C] with `<S>` before and `</S>` after each sentence,
        flattened to [B * (T + 2), P]; the mask [B, T] says which are words.
        """
        vectors = self.encode_types(torch.cat([self.boundaries, character_ids[mask]]))
        position = torch.zeros(
            mask.shape[0], mask.shape[1] + 2, dtype=torch.long, device=mask.device
        )
        # The rows of the words, from 2.
        position[:, 1:-1] = (mask.flatten().cumsum(0).view_as(mask) + 1) * mask
        position.scatter_(1, mask.sum(1, keepdim=True) + 1, 1)
        return vectors[position.flatten()]

    def _run(
        self, tokens: Tensor, packing: Packing, states: States
    ) -> Iterator[tuple[str, list[Tensor], list[State]]]:
        """
        For each direction, the outputs of its L layers, each [N, P], for the token
        vectors [B * (T + 2), P], and the states for the next batch.
        """
        stacks = [self.forward_stack, self.backward_stack]
        inputs = []
        kept = []
        ordered = []
        for direction, stack in zip(DIRECTIONS, stacks, strict=True):
            read, _ = packing.indices(direction)
            inputs.append(tokens[read])
            first = states.get(direction) or stack.initial_states(0)
            kept.append(_with_rows(first, stack, len(packing.order)))
            in_order = []
            for cell, hidden in kept[-1]:
                in_order.append((cell[packing.order], hidden[packing.order]))
            ordered.append(in_order)
        with torch.autocast(tokens.device.type, enabled=False):
            computed = run_stacks(
                stacks,
                inputs,
                packing.batch_sizes,
                ordered,
                precision=self.product_dtype,
            )
            for direction, old, (outputs, finals) in zip(
                DIRECTIONS, kept, computed, strict=True
            ):
                _replace_rows(old, finals, packing.order)
                yield direction, outputs, old

    def _zeros(self, mask: Tensor) -> Tensor:
        """Layers [L+1, B, T, 2P] for a mask [B, T]."""
        return self.boundaries.new_zeros(
            (self.n_layers, *mask.shape, self.output_dim), dtype=self.dtype
        )


def _replace_rows(states: list[State], finals: list[State], order: Tensor) -> None:
    """Puts each layer's final states, whose rows are in this order, into `states`."""
    for state, final in zip(states, finals, strict=True):
        for old, new in zip(state, final, strict=True):
            old[order] = new.detach()


def _with_rows(states: list[State], stack: LstmStack, rows: int) -> list[State]:
    """
    Copies of the states of each layer, on the device of the stack, with zeros for rows
    that they do not have yet.
    """
    unseen = stack.initial_states(max(0, rows - len(states[0][0])))
    complete = []
    for (cell, hidden), (more_cell, more_hidden) in zip(states, unseen, strict=True):
        complete.append(
            (
                torch.cat([cell.to(more_cell), more_cell]),
                torch.cat([hidden.to(more_hidden), more_hidden]),
            )
        )
    return complete


def _distinct_rows(ids: Tensor) -> tuple[Tensor, Tensor]:
    """
    The distinct rows of ids [N, C], [U, C], and the index of each row among them, [N].
    """
    weights = torch.arange(1, ids.shape[1] + 1, device=ids.device, dtype=torch.long)
    weights = weights * 0x9E3779B97F4A7C1 + weights * weights * 0x632BE59BD9B4E01
    # By a hash of each row, modulo 2^64.
    found, index = torch.unique((ids.long() * weights).sum(1), return_inverse=True)
    first = torch.empty_like(found)
    first[index] = torch.arange(len(ids), device=ids.device)
    distinct = ids[first]
    if not torch.equal(distinct[index], ids):
        return ids, torch.arange(len(ids), device=ids.device)
    return distinct, index
