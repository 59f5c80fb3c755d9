"""The input encoder: widths, where ELMo is added, one biLM pass, padding, options."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Batch, Instance, TextFieldTensors, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import TokenCharactersIndexer
from allennlp.modules.seq2vec_encoders import CnnEncoder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding, TokenCharactersEncoder

from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_indexer import CharacterIndexer
from elmo_tasks.nn.input_encoder import InputEncoder, input_width, without_words
from elmo_tasks.nn.stacked_lstm import StackedLstm
from elmo_tasks.nn.word_indexer import WordIndexer
from tests.tiny import ELMO_DIM, elmo

SENTENCES = ["the ferry left", "it sank", "Mira saw the ferry leave Harrow", "so"]
WORD_DIM, CHARACTER_DIM, HIDDEN = 6, 4, 3


def instance(sentence: str) -> Instance:
    indexers = {
        "tokens": WordIndexer(),
        "token_characters": TokenCharactersIndexer(min_padding_length=2),
        "elmo": CharacterIndexer(),
    }
    return Instance({"tokens": TextField([Token(word) for word in sentence.split()], indexers)})


VOCABULARY = Vocabulary.from_instances([instance(sentence) for sentence in SENTENCES])


def batch(*sentences: str) -> TextFieldTensors:
    instances = Batch([instance(sentence) for sentence in sentences])
    instances.index_instances(VOCABULARY)
    return instances.as_tensor_dict()["tokens"]


def embedder() -> BasicTextFieldEmbedder:
    words, characters = (VOCABULARY.get_vocab_size(name) for name in ("tokens", "token_characters"))
    cnn = CnnEncoder(embedding_dim=2, num_filters=CHARACTER_DIM, ngram_filter_sizes=(2,))
    parts = {
        "tokens": Embedding(WORD_DIM, num_embeddings=words),
        "token_characters": TokenCharactersEncoder(Embedding(2, num_embeddings=characters), cnn),
    }
    return BasicTextFieldEmbedder(parts)


def make(folder: Path, at: str | None, *, words: bool = True, **keys: Any) -> InputEncoder:
    source, embedded = None if at is None else elmo(folder, at=at), embedder()
    kept = embedded if words else without_words(embedded)
    encoder = StackedLstm(input_size=input_width(kept, source), hidden_sizes=[5, HIDDEN])
    return InputEncoder(kept, encoder, elmo=source, **keys).eval()


def test_allennlps_embedding_gets_no_spelling(tmp_path: Path) -> None:
    unknown, known = (make(tmp_path, None)(batch(text)).mask for text in ("a gull left", "the ferry left"))
    assert torch.equal(unknown, known)


@pytest.mark.parametrize(
    ("at", "x_width", "h_width"),
    [
        (None, WORD_DIM + CHARACTER_DIM, 2 * HIDDEN),
        ("input", WORD_DIM + CHARACTER_DIM + ELMO_DIM, 2 * HIDDEN),
        ("output", WORD_DIM + CHARACTER_DIM, 2 * HIDDEN + ELMO_DIM),
        ("both", WORD_DIM + CHARACTER_DIM + ELMO_DIM, 2 * HIDDEN + ELMO_DIM),
    ],
)
def test_widths_and_one_bilm_pass(tmp_path: Path, at: str | None, x_width: int, h_width: int) -> None:
    layers = make(tmp_path, at)
    assert (layers.get_input_dim(), layers.get_output_dim()) == (x_width, h_width)
    assert layers.encoder.get_input_dim() == x_width
    passes: list[int] = []
    if layers.elmo is not None:
        layers.elmo.source.register_forward_hook(lambda *_: passes.append(1))
    h, x, mask = layers(batch(*SENTENCES))
    assert len(passes) == (at is not None)
    assert (x.shape, h.shape) == ((4, 6, x_width), (4, 6, h_width))
    assert mask.sum(1).tolist() == [3, 2, 6, 1]


def test_x_and_h(tmp_path: Path) -> None:
    layers, tokens = make(tmp_path, "both"), batch(*SENTENCES)
    assert layers.elmo is not None
    assert layers.elmo.output_mix is not None and layers.elmo.output_mix.weights is not None
    layers.elmo.output_mix.weights.data = torch.tensor([3.0, 0.0, -3.0])
    h, x, mask = layers(tokens)
    bilm = layers.elmo.layers(tokens["elmo"]["elmo_tokens"])
    words = {key: value for key, value in tokens.items() if key != "elmo"}
    assert torch.equal(x, torch.cat([layers.embedder(words), layers.elmo.input_vectors(bilm)], -1))
    assert torch.equal(h, torch.cat([layers.encoder(x, mask), layers.elmo.output_vectors(bilm)], -1))
    assert not torch.allclose(h[..., -ELMO_DIM:], x[..., -ELMO_DIM:])


def test_word_vectors_off(tmp_path: Path) -> None:
    layers = make(tmp_path, "input", words=False)
    assert layers.get_input_dim() == CHARACTER_DIM + ELMO_DIM
    tokens = batch(*SENTENCES)
    h = layers(tokens).h
    tokens["tokens"]["tokens"] = tokens["tokens"]["tokens"].clamp(max=1)
    assert torch.equal(layers(tokens).h, h)
    assert not any("token_embedder_tokens" in name for name, _ in layers.named_parameters())


def test_variational_dropout(tmp_path: Path) -> None:
    layers = make(tmp_path, "both", input_dropout=0.5, output_dropout=0.5).train()
    h, x, _ = layers(batch(SENTENCES[2]))
    assert 0 < (x == 0).all(1).sum() < x.shape[2]
    dropped = (h == 0).all(1)[0]
    assert dropped[: 2 * HIDDEN].any() and not dropped[2 * HIDDEN :].any()
    independent = make(tmp_path, None, input_dropout=0.5, variational_dropout=False).train()
    dropped = independent(batch(SENTENCES[2])).x[0] == 0
    assert 0.2 < dropped.float().mean() < 0.8 and not torch.equal(dropped[:1].expand_as(dropped), dropped)


def test_elmo_without_character_ids(tmp_path: Path) -> None:
    layers, tokens = make(tmp_path, "input"), batch(*SENTENCES)
    del tokens["elmo"]
    with pytest.raises(InputError, match="the key elmo .* got token_characters, tokens"):
        layers(tokens)
