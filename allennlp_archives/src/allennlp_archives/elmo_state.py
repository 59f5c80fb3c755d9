"""
The biLM in the state of an AllenNLP model: AllenNLP's modules store its weights under
names, and in an order of gates, of their own.
"""

import re
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.characters import CHARACTERS
from elmo_tasks.bilm.lstm import FORGET_BIAS, ProjectedLstm
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.bilm.token_encoder import TokenEncoder
from elmo_tasks.errors import InputError

_CHARACTERS = "_token_embedder._char_embedding_weights"

BILM_STATE = re.compile(rf"(?P<prefix>.*){re.escape(_CHARACTERS)}")
"""The name of a tensor that each biLM in a state has."""

_THEIR_GATES = "ifjo"
_OUR_GATES = "iofj"

State = Mapping[str, Tensor]


def bilms_in(state: State) -> list[str]:
    """The prefixes, of the names in a model's state, of the biLMs in it."""
    found = []
    for name in state:
        match = BILM_STATE.fullmatch(name)
        if match is not None:
            found.append(match["prefix"])
    return found


def part_of(state: State, prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix, without it."""
    found = {}
    for name, tensor in state.items():
        if name.startswith(prefix):
            found[name.removeprefix(prefix)] = tensor
    return found


def options_of(state: State) -> BiLMOptions:
    """
    The sizes of a biLM from its state, with the clipping, the activation and the skip
    connections of the paper's, which a state does not show. Raises `InputError` if the
    state is not that of a biLM.
    """
    try:
        convolutions: list[tuple[int, int]] = []
        while f"_token_embedder.char_conv_{len(convolutions)}.weight" in state:
            index = len(convolutions)
            weight = state[f"_token_embedder.char_conv_{index}.weight"]
            convolutions.append((weight.shape[2], weight.shape[0]))
        highways = 0
        while f"_token_embedder._highways._layers.{highways}.weight" in state:
            highways += 1
        layers = 0
        while f"{_cell('forward', layers)}.state_projection.weight" in state:
            layers += 1
        projection = state[f"{_cell('forward', 0)}.state_projection.weight"]
        return BiLMOptions(
            filters=tuple(convolutions),
            character_dim=state[_CHARACTERS].shape[1],
            n_highway=highways,
            dim=projection.shape[1],
            projection_dim=projection.shape[0],
            n_layers=layers,
        )
    except (KeyError, IndexError) as error:
        raise InputError(
            f"the state has no complete biLM: {error} is missing"
        ) from None


@torch.no_grad()
def bilm_of(state: State, options: BiLMOptions) -> BiLM:
    """
    A frozen biLM with the weights in a state of AllenNLP's `_ElmoBiLm`. Raises
    `InputError` if a tensor is missing or does not have the size of the options.
    """
    bilm = BiLM(options, initialize=False)
    bilm.eval().requires_grad_(False)
    try:
        _fill_token_encoder(bilm.token_encoder, part_of(state, "_token_embedder."))
        for direction, stack in (
            ("forward", bilm.forward_stack),
            ("backward", bilm.backward_stack),
        ):
            for depth, layer in enumerate(stack.layers):
                _fill_lstm(layer, part_of(state, f"{_cell(direction, depth)}."))
    except KeyError as error:
        raise InputError(
            f"the state has no complete biLM: {error} is missing"
        ) from None
    except RuntimeError as error:
        raise InputError(
            f"the state does not fit the biLM's options: {error}"
        ) from None
    return bilm


def _cell(direction: str, layer: int) -> str:
    return f"_elmo_lstm.{direction}_layer_{layer}"


def _fill_token_encoder(encoder: TokenEncoder, state: State) -> None:
    # The first row is padding; a file with 262 characters never uses its last one.
    encoder.characters.copy_(state["_char_embedding_weights"][1 : CHARACTERS + 1])
    for index, convolution in enumerate(encoder.convolutions):
        _fill(convolution, part_of(state, f"char_conv_{index}."))
    for index, highway in enumerate(encoder.highways):
        layer = part_of(state, f"_highways._layers.{index}.")
        for name, values in layer.items():
            transform, carry = values.chunk(2)
            getattr(highway.transform, name).copy_(transform)
            # AllenNLP's gate lets the input through, ours what was computed.
            getattr(highway.gate, name).copy_(-carry)
    _fill(encoder.projection, part_of(state, "_projection."))


def _fill(layer: nn.Module, state: State) -> None:
    for name in ("weight", "bias"):
        getattr(layer, name).copy_(state[name])


def _fill_lstm(layer: ProjectedLstm, state: State) -> None:
    layer.input_weight.copy_(_our_gates(state["input_linearity.weight"]))
    layer.hidden_weight.copy_(_our_gates(state["state_linearity.weight"]))
    bias = state["state_linearity.bias"].clone()
    # AllenNLP adds it when it loads the weights, we when we compute.
    forget = bias.chunk(4)[_THEIR_GATES.index("f")]
    forget -= FORGET_BIAS
    layer.bias.copy_(_our_gates(bias))
    layer.projection.copy_(state["state_projection.weight"])


def _our_gates(values: Tensor) -> Tensor:
    """The blocks of a tensor [4 * dim, ...], one for each gate, in our order."""
    blocks = values.chunk(4)
    return torch.cat([blocks[_THEIR_GATES.index(gate)] for gate in _OUR_GATES])
