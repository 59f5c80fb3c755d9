"""
Transformers: the pooled hidden states of the plain Hugging Face model, long texts,
files, and the keys of ELMo.
"""

import json
import logging
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from sentencepiece import SentencePieceTrainer
from tokenizers import Regex, Tokenizer, pre_tokenizers
from torch import Tensor

from elmo_tasks.bilm.characters import MOST_CHARACTERS, batch_to_ids
from elmo_tasks.elmo.sources.transformer import Transformer
from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.nn.indexers import CharacterIndexer
from tests.elmo.sources.transformer_samples import (
    ARCHITECTURES,
    BYTE_LEVEL,
    LIMIT,
    UNIGRAM,
    write_transformer,
)

LONG_WORD = "antidisestablishmentarianism" * 2
SENTENCES = [
    ["The", "harbour", "froze", "over", "."],
    [],
    ["Ångström", "日本語", "🙂", LONG_WORD, "unloading", "Skippers"],
    ["one"],
    ["", "\x01", "unhurriedly", "\ud800over", "<S>", "The"],
]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_transformer(tmp_path_factory.mktemp("bert"))


def ids_of(sentences: list[list[str]]) -> Tensor:
    return batch_to_ids(sentences, longest=MOST_CHARACTERS)


def plain(folder: str) -> tuple[Any, Any]:
    """The encoder and the tokenizer, as transformers opens them."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    if "ByteLevel" in str(tokenizer.backend_tokenizer.pre_tokenizer):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, add_prefix_space=True
        )
    kind = transformers.AutoModel
    if transformers.AutoConfig.from_pretrained(folder).model_type == "t5":
        kind = transformers.T5EncoderModel
    model = kind.from_pretrained(folder).eval()
    if isinstance(model, transformers.BartModel | transformers.LEDModel):
        model = model.get_encoder()
    return model, tokenizer


def reference(folder: str, sentence: list[str], pieces: str = "mean") -> Tensor:
    """
    [L+1, T, D] by the plain model and tokenizer, one word at a time; zero for words
    without a piece.
    """
    model, tokenizer = plain(folder)
    words = [word.encode("utf-8", "ignore").decode() for word in sentence]
    encoded = tokenizer(
        words,
        is_split_into_words=True,
        return_tensors="pt",
        return_token_type_ids=False,
    )
    with torch.no_grad():
        states = torch.cat(
            model(**encoded, output_hidden_states=True).hidden_states
        )  # [L+1, S, D]
    chosen = {"mean": slice(None), "first": slice(1), "last": slice(-1, None)}[pieces]
    vectors = []
    for word in range(len(words)):
        places = [p for p, w in enumerate(encoded.word_ids()) if w == word]
        if places:
            vectors.append(states[:, places[chosen]].mean(1))
        else:
            vectors.append(torch.zeros_like(states[:, 0]))
    return torch.stack(vectors, 1)


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        *[(name, "mean") for name in ARCHITECTURES],
        *[("Bert", "first"), ("Bert", "last"), ("GPT2", "first"), ("T5", "last")],
    ],
)
def test_the_layers_are_the_pooled_hidden_states(
    name: str, pieces: str, tmp_path: Path
) -> None:
    source = Transformer(write_transformer(tmp_path, name), pieces=pieces)
    output = source(ids_of(SENTENCES))
    assert output.mask.sum(1).tolist() == [len(sentence) for sentence in SENTENCES]
    assert not output.layers[:, ~output.mask].any() and not output.layers.requires_grad
    for row, sentence in enumerate(SENTENCES):
        found = output.layers[:, row, : len(sentence)]
        torch.testing.assert_close(
            found, source(ids_of([sentence])).layers[:, 0], atol=1e-5, rtol=0.0
        )
        if sentence:
            expected = reference(str(tmp_path), sentence, pieces)
            torch.testing.assert_close(found, expected, atol=1e-5, rtol=0.0)
            assert expected[-1].std() > 0.05  # weights that matter
    dropped = output.layers[:, 4].eq(0).all(2).all(0).tolist()
    has_control = name in BYTE_LEVEL or name in UNIGRAM
    assert dropped == [True, not has_control, *[False] * 4]
    assert source(ids_of([[], []])).layers.shape == (4, 2, 0, 16)
    assert (source.n_layers, source.output_dim) == (4, 16)


def test_sparse_attention_depends_on_no_other_text(tmp_path: Path) -> None:
    """From 28 pieces on, that of this BigBird would be sparse, and pad the batch."""
    source = Transformer(write_transformer(tmp_path, "BigBird"))
    text = ["The", "harbour", "unloading", "Ångström"] * 6
    layers = source(ids_of([text, text[:5], text * 2])).layers
    expected = reference(str(tmp_path), text[:5])
    torch.testing.assert_close(layers[:, 1, :5], expected, atol=1e-5, rtol=0.0)
    by_itself = source(ids_of([text])).layers[:, 0]
    torch.testing.assert_close(
        layers[:, 0, : len(text)], by_itself, atol=1e-5, rtol=0.0
    )


def test_a_tokenizer_that_needs_the_blank_before_a_word(tmp_path: Path) -> None:
    """As that of Llama 3, whose pre-tokenizer cannot be set to add it."""
    folder = write_transformer(tmp_path, "GPT2")
    file = tmp_path / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r" ?\w+| ?[^\s\w]+"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.save(str(file))
    words = ["The", "harbour", "don't", "", "froze", "."]
    in_text = torch.tensor([tokenizer.encode(" The harbour don't froze .").ids])
    plain_model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        states = plain_model(in_text, output_hidden_states=True).hidden_states
    layers = Transformer(folder, pieces="last")(ids_of([words])).layers[:, 0]
    ends = []
    for word in words:
        ends.append(len(tokenizer.encode(f" {word}" if word else "").ids))
    places = [place - 1 for place in accumulate(ends)]
    for place, word in enumerate(words):
        expected = torch.stack(states)[:, 0, places[place]]
        if not word:
            expected = torch.zeros_like(expected)
        torch.testing.assert_close(layers[:, place], expected, atol=1e-5, rtol=0.0)


@pytest.mark.parametrize("name", ["GPT2", "Bert"])
def test_a_tokenizer_saved_with_dropout(name: str, tmp_path: Path) -> None:
    """That of its training: it would split words at random."""
    folder = write_transformer(tmp_path, name)
    expected = Transformer(folder)(ids_of(SENTENCES)).layers
    file = tmp_path / "tokenizer.json"
    written = json.loads(file.read_text())
    written["model"]["dropout"] = 0.5
    file.write_text(json.dumps(written))
    source = Transformer(folder)
    for _ in range(3):
        assert torch.equal(source(ids_of(SENTENCES)).layers, expected)


def test_a_model_whose_vocabulary_is_sentencepiece_s(tmp_path: Path) -> None:
    """
    As the DeBERTa of the hub, which has no `tokenizer.json`. Saved with sampling, it
    would split words at random.
    """
    folder = Path(write_transformer(tmp_path, "DebertaV2"))
    for file in folder.glob("*token*"):
        file.unlink()
    SentencePieceTrainer.train(
        sentence_iterator=iter(["unhurriedly it froze over", "it froze"]),
        model_prefix=str(folder / "spm"),
        vocab_size=19,
        minloglevel=2,
    )
    (folder / "spm.vocab").unlink()
    settings = {"tokenizer_class": "DebertaV2Tokenizer", "do_lower_case": False}
    settings["sp_model_kwargs"] = {
        "enable_sampling": True,
        "alpha": 0.1,
        "nbest_size": -1,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    sentence = ["it", "froze", "unhurriedly"]
    source = Transformer(str(folder))
    found = source(ids_of([sentence])).layers[:, 0]
    torch.testing.assert_close(
        found, reference(str(folder), sentence), atol=1e-5, rtol=0.0
    )
    assert torch.equal(source(ids_of([sentence])).layers[:, 0], found)


def windowed(folder: str, sentence: list[str]) -> list[list[Tensor]]:
    """
    For each word its layers [L+1, D] from the window of pieces in which it has most
    context on both sides, and from others where it has as much, less one piece.
    """
    model, tokenizer = plain(folder)
    encoded = tokenizer(sentence, is_split_into_words=True, add_special_tokens=False)
    framed_word = tokenizer.backend_tokenizer.encode(["a"], is_pretokenized=True)
    before = framed_word.word_ids.index(0)
    limit, length = LIMIT - framed_word.word_ids.count(None), len(encoded.input_ids)
    step = limit - limit // 2
    starts = list(range(0, max(1, length - limit + step), step))
    states = []  # of each window, [L+1, S, D]
    for start in starts:
        framed = tokenizer.prepare_for_model(encoded.input_ids[start : start + limit])
        ids = torch.tensor([framed.input_ids])
        with torch.no_grad():
            layers = model(ids, output_hidden_states=True).hidden_states
        states.append(torch.cat(layers))
    vectors = []
    for word in range(len(sentence)):
        of_word = [place for place, of in enumerate(encoded.word_ids()) if of == word]
        context = []
        for start in starts:
            nearest = LIMIT
            if start > 0:
                nearest = min(nearest, of_word[0] - start)
            if start + limit < length:
                nearest = min(nearest, start + limit - 1 - of_word[-1])
            context.append(nearest)
        found = []
        for n, start in enumerate(starts):
            if context[n] >= max(context) - 1:
                places = [place - start + before for place in of_word]
                found.append(states[n][:, places].mean(1))
        vectors.append(found)
    return vectors


@pytest.mark.parametrize("name", ["Bert", "Roberta", "GPT2", "T5", "Camembert", "LED"])
def test_long_texts_are_read_in_windows(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write_transformer(tmp_path, name)
    source = Transformer(folder)
    text = ["The", "harbour", "unloading", "Ångström"] * 30
    with caplog.at_level(logging.WARNING):
        layers = source(ids_of([SENTENCES[0], text, text[::-1], ["one"]])).layers
    assert len(caplog.records) == 1 and "overlapping windows" in caplog.text
    for found, expected in zip(
        layers[:, 1].unbind(1), windowed(folder, text), strict=False
    ):
        assert min((found - vectors).abs().max().item() for vectors in expected) < 1e-5
    torch.testing.assert_close(
        layers[:, 0, :5],
        source(ids_of(SENTENCES[:1])).layers[:, 0],
        atol=1e-5,
        rtol=0.0,
    )


def test_a_word_longer_than_a_window(tmp_path: Path) -> None:
    """It has a vector, and other words have those of their own window."""
    source = Transformer(write_transformer(tmp_path, "GPT2"))
    layers = source(ids_of([["one", "x" * 200, "The", "z" * 300]])).layers
    assert layers.abs().sum(3).gt(0).all()


def embedder(model: str, **keys: Any) -> ElmoTokenEmbedder:
    return ElmoTokenEmbedder.open(source="transformer", model=model, **keys).train()


def test_words_of_any_length_pass_through_the_reader_and_the_cache(
    bert: str, tmp_path: Path
) -> None:
    indexers = {"elmo": CharacterIndexer()}
    instances = []
    for sentence in SENTENCES:
        field = TextField([Token(word) for word in sentence], indexers)
        instances.append(Instance({"text": field}))
    batch = Batch(instances)
    batch.index_instances(Vocabulary())
    ids = batch.as_tensor_dict()["text"]["elmo"]["elmo_tokens"]
    cached = embedder(bert, mix="last", cache_dir=str(tmp_path))
    calls: list[Any] = []
    cached.source.register_forward_hook(lambda *call: calls.append(call))
    expected = reference(bert, SENTENCES[2])[-1]
    for _ in range(2):
        torch.testing.assert_close(cached(ids)[2, :6], expected, atol=2e-3, rtol=0.0)
        # The key does not depend on the longest word of a batch.
        cached(ids_of(SENTENCES[:1]))
    assert len(calls) == 1
    for keys in ({"pieces": "first"}, {"precision": "emulated_bfloat16"}):
        embedder(bert, mix="last", cache_dir=str(tmp_path), **keys)(ids)
    assert len(list(tmp_path.iterdir())) == 3


def test_mixes_precision_and_devices(bert: str) -> None:
    ids, layers = ids_of(SENTENCES), Transformer(bert)(ids_of(SENTENCES)).layers
    elmo = embedder(bert, mix="weighted")
    torch.testing.assert_close(
        elmo(ids), layers.mean(0), atol=1e-5, rtol=0.0
    )  # no dropout, although in training
    rounded = embedder(bert, mix="last", precision="emulated_bfloat16")
    assert (
        rounded.source.model.dtype is torch.bfloat16
        and rounded(ids).dtype is torch.float32
    )
    mask = layers[-1].abs().sum(2) > 0
    assert torch.cosine_similarity(rounded(ids)[mask], layers[-1][mask]).min() > 0.99
    assert embedder(bert).double()(ids).dtype is torch.float64
    with pytest.raises(InputError, match="layer:0 to layer:3 .*, got 'layer:4'"):
        embedder(bert, mix="layer:4")
