"""`Elmo`: vectors of many sentences in one call."""

import json
import pickle
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.models import load_archive

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.elmo import Elmo, ElmoVectors
from elmo_tasks.elmo.trained_mix import open_trained_mix
from elmo_tasks.errors import InputError
from elmo_tasks.resources import fixtures_root
from tests.archives.make import STORED
from tests.elmo.samples import write_bilm

TEXT = [
    "The harbour froze over .",
    "",
    "one",
    "a b c d e f g h i j k l",
    ["New York", "is", "big"],
    "two words",
]
TOKENS = [text.split() if isinstance(text, str) else text for text in TEXT]
ARCHIVE = STORED / "1" / "ner.tar.gz"


@pytest.fixture
def elmo(tmp_path: Path) -> Elmo:
    return Elmo.from_files(*write_bilm(tmp_path), batch_size=2)


def layers(elmo: Elmo, tokens: list[str]) -> np.ndarray:
    """The layers [L+1, T, 2P] of a single sentence."""
    return elmo.layers(batch_to_ids([tokens])).layers[:, 0].numpy()


def test_sentences_keep_their_order(elmo: Elmo) -> None:
    for found, tokens in zip(elmo.embed(TEXT), TOKENS, strict=True):
        assert found.dtype == np.float32 and found.shape == (3, len(tokens), 12)
        assert np.allclose(found, layers(elmo, tokens), atol=1e-6)
    assert elmo.embed(iter([])) == []


def test_a_word_is_encoded_once() -> None:
    elmo = Elmo.from_pretrained()
    counts: list[int] = []

    def count(module: Any, inputs: Any) -> None:
        counts.append(len(inputs[0]))

    bilm = elmo.layers.source
    assert isinstance(bilm, BiLM)
    bilm.token_encoder.register_forward_pre_hook(count)
    for _ in range(2):
        elmo.embed(["one"])
    assert counts == [3]  # <S>, </S> and the word


@pytest.mark.parametrize("method", ["embed", "encode"])
def test_a_bar_is_shown_where_it_is_asked_for(
    elmo: Elmo, method: str, capfd: pytest.CaptureFixture[str]
) -> None:
    compute = getattr(elmo, method)
    compute(TEXT)
    assert capfd.readouterr() == ("", "")
    compute(TEXT, progress=True)
    found = capfd.readouterr()
    assert found.out == "" and "23.0/23.0" in found.err


@pytest.mark.parametrize(
    "sentences",
    [5, None, [None], [["a", 5]], [b"bytes"], {"a": 1}, {"a"}, [{"a"}]],
)
def test_sentences_are_lists_of_words_or_strings(elmo: Elmo, sentences: Any) -> None:
    with pytest.raises(
        InputError,
        match="expected a (list of sentences|string or a list of words), got",
    ):
        elmo.embed(sentences)


def test_one_text_has_one_vector(elmo: Elmo) -> None:
    text = "She heard it."
    assert np.array_equal(elmo.embed(text), elmo.embed([text])[0])
    assert np.array_equal(elmo.encode(text), elmo.encode([text])[0])
    assert torch.equal(elmo.embed(text, tensors=True), torch.tensor(elmo.embed(text)))
    assert elmo.encode(text, tensors=True).shape == (12,)


@pytest.mark.parametrize("method", ["embed", "encode", "iter_embed"])
def test_a_call_has_its_own_batch_size(elmo: Elmo, method: str) -> None:
    texts = ["She left.", "He sang.", "It fell."]
    passes: list[int] = []
    elmo.layers.source.register_forward_hook(lambda *_: passes.append(1))  # type: ignore
    compute = getattr(elmo, method)
    together = list(compute(texts))
    several = len(passes)
    for one, other in zip(compute(texts, batch_size=1), together, strict=True):
        assert np.allclose(one, other, atol=1e-6)
    assert (several, len(passes) - several) == (2, 3)
    with pytest.raises(InputError, match="batch_size: expected a number"):
        compute(texts, batch_size=0)


def test_a_model_moves(elmo: Elmo) -> None:
    expected = elmo.encode(TEXT)
    assert elmo.to("cpu") is elmo
    assert np.array_equal(elmo.encode(TEXT), expected)
    with pytest.raises(InputError, match="device: expected auto"):
        elmo.to("nonsense")


@pytest.mark.parametrize(
    "device",
    ["cuda", "cuda:0", "cuda:7", "mps", "mps:0", "meta", "nonsense", "", "cuda:x", 0]
    + [-1, 7, "xla", "hpu", "xpu", "privateuseone", torch.device("cuda:7")],
)
def test_an_absent_device_is_an_error_that_names_those_there_are(
    device: Any, tmp_path: Path
) -> None:
    files = write_bilm(tmp_path)
    try:
        found = Elmo.from_files(*files, device=device)
    except InputError as error:
        expected, got = str(error).split(", got ")
        names = expected.removeprefix("device: expected ").split(" or ")
        assert "cpu" in names
        for name in names:
            Elmo.from_files(*files, device=name).embed([["a"]])
        assert str(device) not in names
        assert str(device) in got or repr(device) in got
    else:
        assert found.embed([["a"]])[0].shape[0] == found.layers.n_layers


def test_errors_name_arguments(
    elmo: Elmo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        InputError, match="weight_file: expected a path or URL, got None"
    ):
        Elmo.from_files("x")
    with pytest.raises(
        InputError,
        match=r"x: no such file: the biLM's options \(set options_file; relative",
    ):
        Elmo.from_files("x", "y")
    assert (
        repr(elmo)
        == f"Elmo(biLM {tmp_path}/weights.hdf5, 3 layers of 12, float32, cpu)"
    )
    monkeypatch.setenv("ELMO_TASKS_DATA", "/nowhere")
    assert Elmo.from_pretrained().layers.name == str(
        fixtures_root() / "bilm/weights.hdf5"
    )


def test_choices_of_layers(elmo: Elmo) -> None:
    whole = elmo.embed(TEXT)
    for choice, expected in {
        "top": [array[-1] for array in whole],
        "average": [array.mean(0) for array in whole],
        0: [array[0] for array in whole],
        1: [array[1] for array in whole],
    }.items():
        for found, other in zip(
            elmo.embed(TEXT, layers=choice, tensors=True), expected, strict=True
        ):
            assert np.allclose(found, other, atol=1e-6) and isinstance(
                found, torch.Tensor
            )
    for invalid, message in (
        ("last", "layers: expected all, top, average, the path"),
        (3, "layers: expected 0 to 2, or all, .* got 3"),
        (-1, "got -1"),
        (True, "got True"),
    ):
        with pytest.raises(InputError, match=message):
            elmo.embed(TEXT, layers=invalid)


def test_the_trained_mix_of_an_archive(tmp_path: Path) -> None:
    embedder = load_archive(ARCHIVE).model.input_encoder.elmo
    for name, content in embedder.files.contents.files.items():
        (tmp_path / name).write_bytes(content)
    own = Elmo.from_pretrained(tmp_path)
    output = embedder.layers(batch_to_ids([TOKENS[0]]))
    for place, vectors in (
        ("", embedder.input_vectors),
        (":output", embedder.output_vectors),
    ):
        expected = vectors(output)[0].detach()
        assert np.allclose(
            own.embed(TEXT, layers=f"{ARCHIVE}{place}")[0], expected, atol=1e-6
        )
        mix = open_trained_mix(f"{ARCHIVE}{place}", own.layers)
        assert not any(part.training for part in mix.modules())
    own.write([(1, "one")], tmp_path / "out", layers=str(ARCHIVE), settings={"seed": 1})
    assert ElmoVectors(tmp_path / "out")[0].shape == (1, own.layers.output_dim)
    weights = json.loads(ElmoVectors(tmp_path / "out").info["layer_weights"])
    assert len(weights) == 3 and sum(weights) == pytest.approx(1)
    with pytest.raises(InputError, match="this model was trained on another biLM"):
        Elmo.from_files(*write_bilm(tmp_path, seed=4)).embed(TEXT, layers=str(ARCHIVE))
    (tmp_path / "damaged.tar.gz").write_bytes(ARCHIVE.read_bytes()[:20000])
    for name, message in (
        ("damaged.tar.gz", "cannot read the model"),
        (".", "cannot read the model"),
    ):
        with pytest.raises(InputError, match=message):
            own.embed(TEXT, layers=str(tmp_path / name))
    (tmp_path / "config.json").write_text(
        '{"model": {"elmo": {"mix": "last", "gamma": false}}}'
    )
    torch.save({}, tmp_path / "best.th")
    assert np.allclose(
        own.embed(TEXT, layers=str(tmp_path))[0], own.embed(TEXT, layers="top")[0]
    )


@pytest.mark.parametrize(
    "model",
    [
        {"elmo": {"layer_norm": "batch"}},  # it depends on other sentences
        None,
        "x",
        [],
        {},
        {"elmo": None},
        {"elmo": "x"},
        {"elmo": {"at": "output"}},
        {"elmo": {"at": "input"}},  # whose weights are not there
    ],
)
def test_a_config_without_elmo_has_no_mix(
    model: Any, elmo: Elmo, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model": model}))
    torch.save({}, folder / "best.th")
    problem = "expected a model with ELMo at the input"
    if model == {"elmo": {"layer_norm": "batch"}}:
        problem = "do not depend on the batch, got layer_norm"
    with pytest.raises(InputError, match=problem):
        elmo.embed(TEXT, layers=str(folder))


def test_pooling(elmo: Elmo) -> None:
    tokens = elmo.embed(TEXT, layers="top")
    poolings: dict[str, Any] = {
        "mean": partial(np.mean, axis=0),
        "max": partial(np.max, axis=0),
        "last": itemgetter(-1),
    }
    for pooling, function in poolings.items():
        found = elmo.encode(TEXT, pooling=pooling, layers="top")
        expected = []
        for array in tokens:
            expected.append(function(array) if len(array) else np.zeros(12))
        assert found.dtype == np.float32 and np.allclose(found, expected, atol=1e-6)
    assert elmo.encode(TEXT, layers="all").shape == (6, 3, 12)
    with pytest.raises(InputError, match="pooling: expected 'mean'"):
        elmo.encode(TEXT, pooling="sum")


def test_pickles_name_the_files(elmo: Elmo, tmp_path: Path) -> None:
    stored = pickle.dumps(elmo)
    assert len(stored) < 2000 and stored == pickle.dumps(pickle.loads(stored))
    assert np.array_equal(pickle.loads(stored).embed(TEXT)[0], elmo.embed(TEXT)[0])
    write_bilm(tmp_path, seed=4)
    with pytest.raises(
        InputError, match=r"weights\.hdf5: the model has changed since the pickle"
    ):
        pickle.loads(stored)


def test_columns_of_a_batch(elmo: Elmo) -> None:
    found = elmo.embed_batch({"tokens": TOKENS, "id": [0] * 6})["elmo"]
    assert all(map(np.array_equal, found, elmo.embed(TEXT, layers="average")))
    with pytest.raises(InputError, match="column: expected one of text, got 'tokens'"):
        elmo.embed_batch({"text": TEXT})


def test_one_layer_has_no_scale(elmo: Elmo) -> None:
    """Files of vectors record what a mix has learned: nothing, of one layer."""
    assert "mix" not in elmo.vector_model(1).settings()
