"""The layers: equality with AllenNLP, long texts and bfloat16."""

from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.modules.elmo import _ElmoBiLm
from allennlp.nn.util import remove_sentence_boundaries
from torch.utils._python_dispatch import TorchDispatchMode

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.bilm.lstm import TOKENS_AT_ONCE
from tests.elmo.samples import (
    BATCHES,
    SENTENCES,
    options,
    random_bilm,
    write_bilm,
)

BITING = {"cell_clip": 0.6, "proj_clip": 0.5}


class Stream:
    """A biLM that carries its states from call to call."""

    def __init__(self, bilm: BiLM) -> None:
        self.bilm = bilm
        self.states: dict[str, Any] = {}

    def __call__(self, ids: torch.Tensor) -> LayerOutput:
        output, self.states = self.bilm.carry(ids, self.states)
        return output


def stream(files: tuple[str, str], state: str) -> BiLM | Stream:
    bilm = BiLM.from_files(*files)
    if state == "carry":
        return Stream(bilm)
    return bilm


def without_states(bilm: BiLM | Stream) -> BiLM:
    if isinstance(bilm, Stream):
        return bilm.bilm
    return bilm


def sentence_layers(
    bilm: BiLM | Stream, sentences: list[list[str]]
) -> list[torch.Tensor]:
    """The layers [L+1, T, 2P] of each sentence, cut to its own tokens."""
    with torch.no_grad():
        layers, mask = bilm(batch_to_ids(sentences))
    lengths = [len(sentence) for sentence in sentences]
    assert mask.sum(1).tolist() == lengths
    bilm = without_states(bilm)
    assert layers.shape == (bilm.options.n_layers + 1, *mask.shape, bilm.output_dim)
    assert layers[:, ~mask].eq(0).all()
    return [layers[:, row, :length] for row, length in enumerate(lengths)]


def allennlp_layers(bilm: _ElmoBiLm, sentences: list[list[str]]) -> list[torch.Tensor]:
    with torch.no_grad():
        output = bilm(batch_to_ids(sentences))
    stripped = []
    for layer in output["activations"]:
        without_boundaries, _ = remove_sentence_boundaries(layer, output["mask"])
        stripped.append(without_boundaries)
    layers = torch.stack(stripped)
    return [layers[:, row, : len(sentence)] for row, sentence in enumerate(sentences)]


@pytest.mark.parametrize("state", ["reset", "carry"])
@pytest.mark.parametrize(
    "changes",
    [
        {"n_highway": 1, **BITING},
        {"activation": "tanh"},
        {"n_highway": 0, "n_layers": 3, "cell_clip": None, "proj_clip": None},
        {"n_layers": 1, "cell_clip": 0.6},
    ],
    ids=str,
)
def test_layers_equal_allennlps(
    tmp_path: Path, changes: dict[str, Any], state: str
) -> None:
    files = write_bilm(tmp_path, **changes)
    ours = stream(files, state)
    theirs = _ElmoBiLm(*files).eval()
    after = [[[], []], [["after"], ["nothing", "."]]]
    for sentences in BATCHES + after:
        if state == "reset":
            theirs._elmo_lstm.reset_states()
        our_layers = sentence_layers(ours, sentences)
        their_layers = allennlp_layers(theirs, sentences)
        for found, expected in zip(our_layers, their_layers, strict=True):
            torch.testing.assert_close(found, expected, atol=1e-5, rtol=0.0)


def test_padding_changes_nothing_and_follows_the_tokens(tmp_path: Path) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path))
    ids = batch_to_ids(SENTENCES)
    for invalid in (ids[:, :, :49], ids.flip(1)):
        with pytest.raises(ValueError, match="character ids: expected"):
            bilm(invalid)
    wide = torch.cat([ids, ids.new_zeros(7, 4, 50)], 1)
    narrow_layers, wide_layers = bilm(ids).layers, bilm(wide).layers
    assert torch.equal(narrow_layers, wide_layers[:, :, :7])
    assert wide_layers[:, :, 7:].eq(0).all()


@pytest.mark.parametrize("words", [["dddd", "eagc"], ["dddd", "home"]])
def test_hash_collisions_of_tokens(tmp_path: Path, words: list[str]) -> None:
    """
    Distinct tokens are found by a hash, which is the same for the first pair: then each
    occurrence is encoded.
    """
    bilm = BiLM.from_files(*write_bilm(tmp_path))
    alone = [sentence_layers(bilm, [[word]])[0][0] for word in words]
    counts = []
    bilm.requires_grad_(True)  # without a cache of words

    def count(module: Any, inputs: Any) -> None:
        counts.append(len(inputs[0]))

    bilm.token_encoder.register_forward_pre_hook(count)
    found = sentence_layers(bilm, [words * 2])[0][0]
    boundaries = 2
    encoded = 4 if "eagc" in words else 2  # the hashes collide, or not
    assert counts == [boundaries + encoded]
    torch.testing.assert_close(found, torch.cat(alone * 2), atol=1e-5, rtol=0.0)
    assert not torch.allclose(found[0], found[1], atol=1e-3)


class Products(TorchDispatchMode):
    """Notes the results of matrix products that have the width of an LSTM's gates."""

    def __init__(self, bilm: BiLM) -> None:
        super().__init__()
        self.width = 4 * bilm.options.dim
        self.rows: list[int] = []
        self.dtypes: set[torch.dtype] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        name = str(function)
        is_product = "linear_pointwise" in name or "mm" in name
        if is_product and result.shape[-1] == self.width:
            self.rows.append(result.shape[:-1].numel())
            self.dtypes.add(result.dtype)
        return result


@pytest.mark.parametrize("state", ["reset", "carry"])
def test_a_long_text_is_processed_in_parts(tmp_path: Path, state: str) -> None:
    """
    As one with gradients, which is processed as a whole; its input products are never
    all in memory.
    """
    files = write_bilm(tmp_path)
    together = stream(files, state)
    in_parts = stream(files, state)
    whole = without_states(together)
    parts = without_states(in_parts)
    for stack in (whole.forward_stack, whole.backward_stack):
        stack.requires_grad_(True)
    ids = batch_to_ids(
        [["a", "long", "text"] * 45, ["one"], [], ["and", "another"] * 7]
    )
    steps, tokens = 137, 137 + 3 + 2 + 16
    assert tokens > TOKENS_AT_ONCE
    with Products(parts) as products:
        found = [in_parts(ids).layers]
    assert TOKENS_AT_ONCE / 2 < max(products.rows) <= TOKENS_AT_ONCE
    assert len(products.rows) == 4 * (2 + steps)
    assert sum(products.rows) == 4 * 2 * tokens  # of inputs and of states
    found.append(in_parts(ids).layers)
    for layers in found:
        expected = together(ids).layers.detach()
        torch.testing.assert_close(layers, expected, atol=1e-6, rtol=0.0)


def test_bfloat16_gives_nearly_the_same_layers_in_float32(tmp_path: Path) -> None:
    files = write_bilm(tmp_path)
    exact = BiLM.from_files(*files)
    low = BiLM.from_files(*files, precision="emulated_bfloat16")
    ids = batch_to_ids(SENTENCES)
    mask = exact(ids).mask
    for bilm, dtype in ((exact, torch.float32), (low, torch.bfloat16)):
        with Products(bilm) as products:
            bilm(ids)
        assert products.dtypes == {dtype}
    for expected, layer in zip(exact(ids).layers, low(ids).layers, strict=True):
        assert layer.dtype == torch.float32
        assert not torch.equal(layer, expected)
        assert torch.cosine_similarity(layer[mask], expected[mask], dim=1).min() > 0.999


def test_autocast_changes_neither_layers_nor_gradients() -> None:
    """Other products than ours would have fewer bits, or types that do not fit."""
    results = []
    for enabled in (False, True):
        bilm = random_bilm()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            layers = bilm(batch_to_ids(SENTENCES)).layers
        layers.square().mean().backward()
        results.append([layers] + [weight.grad for weight in bilm.parameters()])
    for plain, under_autocast in zip(results[0], results[1], strict=True):
        assert torch.equal(plain, under_autocast)


@pytest.mark.parametrize("slots", [10, 50, 120, 256])
def test_words_are_read_up_to_their_limit(tmp_path: Path, slots: int) -> None:
    """
    Two words that differ in their last byte have one vector if that byte is truncated.
    """
    bilm = BiLM.from_files(*write_bilm(tmp_path, max_characters_per_token=slots))
    assert bilm.options.max_characters_per_token == slots
    body = "a" * (slots - 3)
    within = [body + "x", body + "y"]
    beyond = [body + "ax", body + "ay"]
    for words, are_equal in ((within, False), (beyond, True)):
        with torch.no_grad():
            layers, _ = bilm(batch_to_ids([words], longest=512))
        assert torch.equal(layers[0, 0, 0], layers[0, 0, 1]) == are_equal


def is_uniform(values: torch.Tensor, bound: float) -> bool:
    largest = values.abs().max().item()
    middle = values.abs().mean().item()
    return 0.97 * bound < largest <= bound and abs(middle / bound - 0.5) < 0.05


def is_normal(values: torch.Tensor, deviation: float) -> bool:
    return abs(values.std().item() / deviation - 1) < 0.05


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_initial_values_are_bilm_tfs(activation: str) -> None:
    torch.manual_seed(4)
    filters = ((2, 40), (3, 60))
    bilm = BiLM(
        options(activation=activation, filters=filters, dim=64, projection_dim=48)
    )
    encoder, width = bilm.token_encoder, 100
    assert is_uniform(encoder.characters, 1.0)
    for convolution, (size, _) in zip(encoder.convolutions, filters, strict=True):
        if activation == "relu":
            assert is_uniform(convolution.weight, 0.05)
        else:
            characters = size * bilm.options.character_dim
            assert is_normal(convolution.weight, characters**-0.5)
        assert convolution.bias.eq(0).all()
    for highway in encoder.highways:
        assert is_normal(highway.transform.weight, width**-0.5)
        assert is_normal(highway.gate.weight, width**-0.5)
        assert highway.transform.bias.eq(0).all()
        assert highway.gate.bias.eq(-2).all()
    assert is_normal(encoder.projection.weight, width**-0.5)
    assert encoder.projection.bias.eq(0).all()
    for layer in chain(bilm.forward_stack.layers, bilm.backward_stack.layers):
        joint = (6 / (48 + 48 + 4 * 64)) ** 0.5
        assert is_uniform(layer.input_weight, joint)
        assert is_uniform(layer.hidden_weight, joint)
        assert is_uniform(layer.projection, (6 / (48 + 64)) ** 0.5)
        assert layer.bias.eq(0).all()
        assert layer.forget_bias.tolist() == [0.0] * 128 + [1.0] * 64 + [0.0] * 64
