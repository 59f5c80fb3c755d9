"""Weights that are held in packed form alone: the same layers, and whoever wants the weights gets them back."""

import copy
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from elmo_tasks.elmo import BiLm, batch_to_ids
from elmo_tasks.elmo.product import PRECISIONS, has_packed_product
from elmo_tasks.elmo.source import open_bilm
from elmo_tasks.elmo.weights import load_weights
from tests.elmo.samples import SENTENCES, write_bilm

pytestmark = pytest.mark.skipif(
    not all(has_packed_product(dtype) for dtype in PRECISIONS.values()),
    reason="this torch has no packed products on this machine",
)

IDS = batch_to_ids(SENTENCES)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    return write_bilm(tmp_path)


@pytest.fixture
def compact(files: tuple[str, str]) -> BiLm:
    """One that has computed."""
    bilm = BiLm.from_files(*files, compact=True)
    bilm(IDS)
    assert any(_is_given_up(weight) for weight in bilm.parameters())
    return bilm


@pytest.fixture
def plain(files: tuple[str, str]) -> BiLm:
    return BiLm.from_files(*files)


def _is_given_up(weight: Tensor) -> bool:
    return weight.untyped_storage().nbytes() < weight.nbytes


def same_state(left: nn.Module, right: nn.Module) -> bool:
    ahead, behind = left.state_dict(), right.state_dict()
    return ahead.keys() == behind.keys() and all(torch.equal(ahead[name], behind[name]) for name in ahead)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_layers_are_the_same_and_the_weights_are_there_once(files: tuple[str, str], precision: str) -> None:
    """Of the biLM all that has two axes but the characters: 2 directions x 2 layers x 3, 2 highways x 2, 1."""
    compact, plain = (BiLm.from_files(*files, precision=precision, compact=compact) for compact in (True, False))
    for _ in range(2):
        assert torch.equal(compact(IDS).layers, plain(IDS).layers)
    given_up = [weight for weight in compact.parameters() if _is_given_up(weight)]
    assert len(given_up) == 17 and all(weight.isnan().all() for weight in given_up)
    assert not any(_is_given_up(weight) for weight in plain.parameters())


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_state_has_all_weights(files: tuple[str, str], plain: BiLm, precision: str) -> None:
    compact = BiLm.from_files(*files, precision=precision, compact=True)
    compact(IDS)
    state, wanted = compact.state_dict(), plain.state_dict()
    assert state.keys() == wanted.keys()
    for name, value in state.items():
        assert value.dtype == wanted[name].dtype
        is_rounded = precision != "float32" and value.dim() == 2 and name != "token_encoder.characters"
        assert torch.equal(value, wanted[name].bfloat16().float() if is_rounded else wanted[name]), name
    assert torch.equal(compact(IDS).layers, BiLm.from_files(*files, precision=precision)(IDS).layers)


def test_copies_and_files_have_all_weights(compact: BiLm, plain: BiLm, tmp_path: Path) -> None:
    copied = copy.deepcopy(compact)
    assert torch.equal(copied(IDS).layers, plain(IDS).layers) and same_state(copied, plain)
    compact(IDS)
    assert same_state(pickle.loads(pickle.dumps(compact)), plain)
    compact(IDS)
    places = tmp_path / "o.json", tmp_path / "w.hdf5"
    compact.save_files(*places)
    assert same_state(BiLm.from_files(*places), plain)


def test_another_type_has_all_weights(compact: BiLm, plain: BiLm) -> None:
    assert torch.equal(compact.double()(IDS).layers, plain.double()(IDS).layers)


def test_other_weights_can_be_loaded(compact: BiLm, tmp_path: Path) -> None:
    other = BiLm.from_files(*write_bilm(tmp_path, seed=4))
    compact.load_state_dict(other.state_dict())
    assert torch.equal(compact(IDS).layers, other(IDS).layers)


def test_one_that_begins_to_learn_has_its_gradients(compact: BiLm, plain: BiLm) -> None:
    for bilm in (compact, plain):
        bilm.requires_grad_(True)
        bilm(IDS).layers.square().sum().backward()
    for (name, ours), theirs in zip(compact.named_parameters(), plain.parameters(), strict=True):
        assert torch.equal(ours.grad, theirs.grad), name


def test_a_gradient_through_the_inputs_and_plain_products(compact: BiLm, plain: BiLm) -> None:
    found = []
    for bilm in (compact, plain):
        inputs = torch.ones(3, 6, requires_grad=True)
        layer = bilm.forward_stack.layers[0]
        layer(inputs, [2, 1], layer.initial_state(2))[0].sum().backward()
        found.append(inputs.grad)
    assert torch.equal(*found)
    compact(IDS)
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        assert torch.equal(compact(IDS).layers, plain(IDS).layers)


@pytest.mark.parametrize(
    "name", ["token_encoder", "backward_stack", "forward_stack.layers.1", "token_encoder.projection"]
)
def test_a_part_has_its_weights(compact: BiLm, plain: BiLm, name: str) -> None:
    part, wanted = compact.get_submodule(name), plain.get_submodule(name)
    assert same_state(part, wanted)
    compact(IDS)
    assert same_state(copy.deepcopy(part), wanted)
    compact(IDS)
    part.load_state_dict(wanted.state_dict())
    assert torch.equal(compact(IDS).layers, plain(IDS).layers)
    part.double().float()
    assert same_state(part, wanted)


def test_one_that_shall_learn_has_its_weights_at_once(compact: BiLm, plain: BiLm) -> None:
    compact.requires_grad_(True)
    assert all(torch.equal(*pair) for pair in zip(compact.parameters(), plain.parameters(), strict=True))


def test_files_can_be_read_into_one_that_has_computed(compact: BiLm, tmp_path: Path) -> None:
    files = write_bilm(tmp_path, seed=4)
    load_weights(compact, files[1], options_file=files[0])
    assert torch.equal(compact(IDS).layers, BiLm.from_files(*files)(IDS).layers)


def test_a_part_that_learns_keeps_its_gradient_whatever_is_computed_meanwhile(compact: BiLm, plain: BiLm) -> None:
    for bilm in (compact, plain):
        bilm.token_encoder.characters.requires_grad_(True)
        layers = bilm(IDS).layers
        with torch.no_grad():
            bilm(IDS[:1])
        layers.square().sum().backward()
    assert torch.equal(compact.token_encoder.characters.grad, plain.token_encoder.characters.grad)


def test_a_gradient_through_a_layer_outlives_the_next_batch(compact: BiLm, plain: BiLm) -> None:
    found = []
    for bilm in (compact, plain):
        inputs = torch.ones(3, 6, requires_grad=True)
        layer = bilm.forward_stack.layers[0]
        outputs = layer(inputs, [2, 1], layer.initial_state(2))[0]
        bilm(IDS)
        outputs.sum().backward()
        found.append(inputs.grad)
    assert torch.equal(*found)


def test_one_that_computed_in_inference_mode_can_learn(files: tuple[str, str], plain: BiLm) -> None:
    compact = BiLm.from_files(*files, compact=True)
    with torch.inference_mode():
        compact(IDS)
    assert any(_is_given_up(weight) for weight in compact.parameters())
    with torch.inference_mode():
        compact.state_dict()
    for bilm in (compact, plain):
        bilm.requires_grad_(True)
        bilm(IDS).layers.square().sum().backward()
    assert all(torch.equal(ours.grad, p.grad) for ours, p in zip(compact.parameters(), plain.parameters(), strict=True))


def test_a_weight_written_to_while_it_was_given_up_is_an_error(compact: BiLm) -> None:
    layers = compact(IDS).layers
    weight = compact.forward_stack.layers[0].projection
    weight[0, 0] = 0.0  # would be the whole weight's
    with pytest.raises(RuntimeError, match="changed in place"):
        compact(IDS)
    assert torch.equal(compact(IDS).layers, layers)
    compact.restore()
    weight[0] = 0.0
    assert not torch.equal(compact(IDS).layers, layers)


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns after each step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_threads_may_compute_and_save_at_once(files: tuple[str, str], plain: BiLm) -> None:
    wanted = plain(IDS).layers
    compact = BiLm.from_files(*files, compact=True)

    def is_sound(place: int) -> bool:
        return same_state(compact, plain) if place % 4 == 0 else torch.equal(compact(IDS).layers, wanted)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(is_sound, range(100)))
    assert torch.equal(compact(IDS).layers, wanted) and same_state(compact, plain)


def test_those_of_models_and_commands_are_held_once(files: tuple[str, str]) -> None:
    bilm, _ = open_bilm(*files)
    assert bilm.compact
