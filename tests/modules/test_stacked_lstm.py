"""The stack of biLSTM layers: sizes, padding, starting values, variational dropout."""

import pytest
import torch
from allennlp.common import Lazy, Params
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from elmo_tasks.errors import InputError
from elmo_tasks.modules.stacked_lstm import StackedLstm
from tests.modules.padding import check_padding

LENGTHS = [3, 5, 1]


def mask_of(lengths: list[int]) -> torch.Tensor:
    return torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]


def encoder(dropout: float = 0.0) -> StackedLstm:
    return StackedLstm(input_size=4, hidden_sizes=[6, 3], dropout=dropout)


def test_sizes() -> None:
    stack = encoder()
    assert (stack.get_input_dim(), stack.get_output_dim()) == (4, 6)
    assert [(layer.input_size, layer.hidden_size) for layer in stack.layers] == [(4, 6), (12, 3)]
    assert stack(torch.randn(3, 5, 4), mask_of(LENGTHS)).shape == (3, 5, 6)
    assert stack.is_bidirectional()


def test_built_from_its_registered_name_without_a_size() -> None:
    params = Params({"type": "elmo_tasks_stacked_lstm", "hidden_sizes": [2]})
    built = Lazy(Seq2SeqEncoder, params).construct(input_size=9, input_dim=9)
    assert isinstance(built, StackedLstm)
    assert built.get_input_dim() == 9


def test_one_layer_equals_torch() -> None:
    stack, inputs = StackedLstm(input_size=4, hidden_sizes=[3]), torch.randn(2, 5, 4)
    assert torch.allclose(stack(inputs, mask_of([5, 5])), stack.layers[0](inputs)[0], atol=1e-6)


def test_what_stands_in_the_padding_changes_nothing() -> None:
    check_padding(encoder(), torch.randn(3, 5, 4), mask_of(LENGTHS))


def test_an_empty_sentence_gives_zeros() -> None:
    stack, inputs = encoder(), torch.randn(2, 3, 4)
    outputs = stack(inputs, torch.tensor([[True, True, False], [False, False, False]]))
    assert not outputs[1].any()
    assert torch.allclose(outputs[0, :2], stack(inputs[:1, :2], mask_of([2]))[0], atol=1e-6)


def test_starting_values() -> None:
    for layer in encoder().layers:
        size = layer.hidden_size
        for suffix in ("l0", "l0_reverse"):
            for gate in getattr(layer, f"weight_hh_{suffix}").chunk(4):
                assert torch.allclose(gate @ gate.T, torch.eye(size), atol=1e-5)
            biases = getattr(layer, f"bias_ih_{suffix}") + getattr(layer, f"bias_hh_{suffix}")
            assert biases.tolist() == [0.0] * size + [1.0] * size + [0.0] * 2 * size


def test_dropout_has_one_mask_per_sentence_before_each_layer() -> None:
    stack, seen = encoder(dropout=0.5).train(), []
    stack.dropout.register_forward_hook(lambda module, inputs, output: seen.append((inputs[0], output)))
    stack(torch.ones(8, 5, 4), mask_of([5] * 8))
    assert [tuple(after.shape) for _, after in seen] == [(8, 5, 4), (8, 5, 12)]
    for before, after in seen:
        dropped = (after == 0) & (before != 0)
        assert torch.equal(dropped[:, :1].expand_as(dropped), dropped)
        assert 0.2 < dropped.float().mean() < 0.8
        assert not torch.equal(dropped[0], dropped[1]), "sentences have masks of their own"


def test_no_dropout_in_evaluation() -> None:
    stack, inputs = encoder(dropout=0.5).eval(), torch.randn(2, 3, 4)
    assert torch.equal(stack(inputs, mask_of([3, 2])), stack(inputs, mask_of([3, 2])))


def test_gradients_everywhere() -> None:
    stack = encoder(dropout=0.2)
    stack(torch.randn(3, 5, 4), mask_of(LENGTHS)).pow(2).sum().backward()
    assert len(list(stack.parameters())) == 16
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in stack.parameters())


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"hidden_sizes": []}, r"hidden_sizes must be one or more whole numbers of at least 1, found \[\]"),
        ({"hidden_sizes": [3, 0]}, r"found \[3, 0\]"),
        ({"hidden_sizes": [3], "dropout": 1.0}, "dropout must be at least 0 and below 1, found 1.0"),
    ],
)
def test_bad_sizes(keys: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        StackedLstm(input_size=4, **keys)
