"""The input encoder: widths, where ELMo is added, one biLM pass, padding, options."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import TextFieldTensors

from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.nn.input_encoder import InputEncoder
from tests.models import corpus, make_model, tensors
from tests.tiny import ELMO_DIM, SIZES

WORD_DIM, CHARACTER_DIM, HIDDEN = (
    SIZES["embedding_dim"],
    SIZES["num_filters"],
    SIZES["hidden_sizes"],
)


def make(
    folder: Path, at: str | None, **keys: Any
) -> tuple[InputEncoder, TextFieldTensors]:
    """
    That of the NER tagger, and a batch of its sample, sentences of 9, 7 and 7 words.
    """
    model = make_model(
        "ner", corpus("ner"), folder, None if at is None else {"at": at}, **keys
    )
    return model.input_encoder, tensors(model.vocab, corpus("ner"))["tokens"]


@pytest.mark.parametrize(
    ("at", "x_width", "h_width"),
    [
        (None, WORD_DIM + CHARACTER_DIM, 2 * HIDDEN),
        ("input", WORD_DIM + CHARACTER_DIM + ELMO_DIM, 2 * HIDDEN),
        ("output", WORD_DIM + CHARACTER_DIM, 2 * HIDDEN + ELMO_DIM),
        ("both", WORD_DIM + CHARACTER_DIM + ELMO_DIM, 2 * HIDDEN + ELMO_DIM),
    ],
)
def test_widths_and_one_bilm_pass(
    tmp_path: Path, at: str | None, x_width: int, h_width: int
) -> None:
    layers, tokens = make(tmp_path, at)
    assert (layers.get_input_dim(), layers.get_output_dim()) == (x_width, h_width)
    assert layers.encoder.get_input_dim() == x_width
    passes: list[int] = []
    if layers.elmo is not None:
        layers.elmo.source.register_forward_hook(lambda *_: passes.append(1))
    h, x, mask = layers(tokens)
    assert len(passes) == (at is not None)
    assert (x.shape, h.shape) == ((3, 9, x_width), (3, 9, h_width))
    assert mask.sum(1).tolist() == [9, 7, 7]


def test_x_and_h(tmp_path: Path) -> None:
    layers, tokens = make(tmp_path, "both")
    assert layers.elmo is not None
    assert (
        layers.elmo.output_mix is not None
        and layers.elmo.output_mix.weights is not None
    )
    layers.elmo.output_mix.weights.data = torch.tensor([3.0, 0.0, -3.0])
    h, x, mask = layers(tokens)
    bilm = layers.elmo.layers(tokens["elmo"]["elmo_tokens"])
    words = {key: value for key, value in tokens.items() if key != "elmo"}
    assert torch.equal(
        x, torch.cat([layers.embedder(words), layers.elmo.input_vectors(bilm)], -1)
    )
    assert torch.equal(
        h, torch.cat([layers.encoder(x, mask), layers.elmo.output_vectors(bilm)], -1)
    )
    assert not torch.allclose(h[..., -ELMO_DIM:], x[..., -ELMO_DIM:])


def test_word_vectors_off(tmp_path: Path) -> None:
    layers, tokens = make(tmp_path, "input", word_vectors=False)
    assert layers.get_input_dim() == CHARACTER_DIM + ELMO_DIM
    h = layers(tokens).h
    tokens["tokens"]["tokens"] = tokens["tokens"]["tokens"].clamp(max=1)
    assert torch.equal(layers(tokens).h, h)
    assert not any(
        "token_embedder_tokens" in name for name, _ in layers.named_parameters()
    )


def test_variational_dropout(tmp_path: Path) -> None:
    layers, tokens = make(tmp_path, "both", input_dropout=0.5, output_dropout=0.5)
    h, x, _ = layers.train()(tokens)
    assert 0 < (x[0] == 0).all(0).sum() < x.shape[2]
    dropped = (h == 0).all(1)[0]
    assert dropped[: 2 * HIDDEN].any() and not dropped[2 * HIDDEN :].any()
    independent, tokens = make(
        tmp_path, None, input_dropout=0.5, variational_dropout=False
    )
    dropped = independent.train()(tokens).x[0] == 0
    assert 0.2 < dropped.float().mean() < 0.8 and not torch.equal(
        dropped[:1].expand_as(dropped), dropped
    )


def test_elmo_without_character_ids(tmp_path: Path) -> None:
    layers, tokens = make(tmp_path, "input")
    del tokens["elmo"]
    with pytest.raises(
        InputError, match="the key elmo .* got token_characters, tokens"
    ):
        layers(tokens)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"places": "input"}, "elmo: places: expected a key of ELMo"),
        ({"at": "above"}, "elmo: at: expected .*above"),
        ({"at": "above", "dropout": 2.0}, "elmo: at: .*; dropout: expected .*2.0"),
        ({"run_folder": "x"}, "elmo: run_folder: expected one of the keys"),
    ],
)
def test_wrong_keys_of_elmo_are_one_error(config: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=f"^{problem}"):
        ElmoTokenEmbedder.from_params(Params(config))
