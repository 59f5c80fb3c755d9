"""The layers: equality with AllenNLP and NumPy, independence of the batch, and directions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.modules.elmo import _ElmoBiLm
from allennlp.nn.util import remove_sentence_boundaries

from elmo_tasks.bilm import BiLM, batch_to_ids, lstm
from elmo_tasks.errors import InputError
from tests.elmo.reference import Reference
from tests.elmo.samples import BATCHES, SENTENCES, write_bilm

BITING = {"cell_clip": 0.6, "proj_clip": 0.5}


def assert_near(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0.0) < tolerance


def sentence_layers(bilm: BiLM, sentences: list[list[str]]) -> list[torch.Tensor]:
    """The layers [L+1, T, 2P] of each sentence, cut to its own tokens."""
    with torch.no_grad():
        layers, mask = bilm(batch_to_ids(sentences))
    lengths = [len(sentence) for sentence in sentences]
    assert mask.sum(1).tolist() == lengths
    assert layers.shape == (bilm.options.n_layers + 1, *mask.shape, bilm.output_dim)
    assert layers[:, ~mask].eq(0).all()
    return [layers[:, row, :length] for row, length in enumerate(lengths)]


def allennlp_layers(bilm: _ElmoBiLm, sentences: list[list[str]]) -> list[torch.Tensor]:
    with torch.no_grad():
        output = bilm(batch_to_ids(sentences))
    stripped = [remove_sentence_boundaries(a, output["mask"])[0] for a in output["activations"]]
    layers = torch.stack(stripped)
    return [layers[:, row, : len(sentence)] for row, sentence in enumerate(sentences)]


@pytest.mark.parametrize(
    "changes",
    [
        {"n_highway": 1},
        {"n_highway": 2, "activation": "tanh"},
        {"n_highway": 1, **BITING},
        {"n_layers": 1, **BITING},
        {"n_layers": 3},
        {"cell_clip": None, "proj_clip": None},
    ],
)
def test_three_carried_batches_equal_allennlp(tmp_path: Path, changes: dict[str, Any]) -> None:
    files = write_bilm(tmp_path, **changes)
    ours, theirs = BiLM.from_files(*files, state="carry"), _ElmoBiLm(*files).eval()
    for sentences in BATCHES:
        pairs = zip(sentence_layers(ours, sentences), allennlp_layers(theirs, sentences), strict=True)
        for found, expected in pairs:
            assert_near(found, expected)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        {"n_highway": 1, **BITING},
        {"n_highway": 0, "activation": "tanh", "n_layers": 3},
        {"n_layers": 1, "cell_clip": 0, "proj_clip": None},
    ],
)
@pytest.mark.parametrize("state", ["reset", "carry"])
def test_layers_equal_the_slow_reference(tmp_path: Path, changes: dict[str, Any], skip: bool, state: str) -> None:
    files = write_bilm(tmp_path, use_skip_connections=skip, **changes)
    bilm, reference = BiLM.from_files(*files, state=state), Reference(*files)
    for sentences in BATCHES:
        expected = reference.layers(sentences, carry=state == "carry")
        for ours, theirs in zip(sentence_layers(bilm, sentences), expected, strict=True):
            assert_near(ours, theirs)


def test_a_batch_without_tokens_carries_its_boundaries(tmp_path: Path) -> None:
    files = write_bilm(tmp_path)
    bilm, reference = BiLM.from_files(*files, state="carry"), Reference(*files)
    for sentences in ([[], []], [["after"], ["nothing", "."]]):
        expected = reference.layers(sentences, carry=True)
        for ours, theirs in zip(sentence_layers(bilm, sentences), expected, strict=True):
            assert_near(ours, theirs)


def test_reset_states_start_from_zero(tmp_path: Path) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path), state="carry")
    first = sentence_layers(bilm, SENTENCES[:1])[0]
    second = sentence_layers(bilm, SENTENCES[:1])[0]
    bilm.reset_states()
    third = sentence_layers(bilm, SENTENCES[:1])[0]
    assert (first[1:] - second[1:]).abs().max() > 0.01
    assert torch.equal(first, third)


def test_vectors_do_not_depend_on_the_batch(tmp_path: Path) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path))
    corpus = [sentence + [f"w{copy}"] * copy for copy in range(3) for sentence in SENTENCES]
    alone = [sentence_layers(bilm, [sentence])[0] for sentence in corpus]
    order = torch.randperm(len(corpus)).tolist()
    seen = 0
    for size in (1, 3, 6, 11):
        batch, order = order[:size], order[size:]
        for index, layers in zip(batch, sentence_layers(bilm, [corpus[i] for i in batch]), strict=True):
            assert_near(layers, alone[index])
            seen += 1
    assert seen == len(corpus) == 21


def test_padding_changes_nothing(tmp_path: Path) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path))
    ids = batch_to_ids(SENTENCES)
    wide = torch.cat([ids, ids.new_zeros(7, 4, 50)], 1)
    narrow_layers, wide_layers = bilm(ids).layers, bilm(wide).layers
    assert torch.equal(narrow_layers, wide_layers[:, :, :7])
    assert wide_layers[:, :, 7:].eq(0).all()


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_no_direction_sees_what_follows(tmp_path: Path, direction: str) -> None:
    """Changing the tokens that a direction reads after t leaves its outputs up to t unchanged, but not the other's."""
    bilm = BiLM.from_files(*write_bilm(tmp_path, n_layers=3))
    width = bilm.options.projection_dim

    def halves(tokens: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """Layers [L+1, T, P] of the direction and of the other, in the order in which the direction reads."""
        layers = sentence_layers(bilm, [tokens if direction == "forward" else tokens[::-1]])[0]
        ahead, back = layers[..., :width], layers[..., width:]
        return (ahead, back) if direction == "forward" else (back.flip(1), ahead.flip(1))

    before = ["the", "boat", "left", "the", "bay"]
    for t in range(4):
        after = before[: t + 1] + ["quite", "other", "words"][: 3 - t // 2]
        (one, one_reversed), (other, other_reversed) = halves(before), halves(after)
        assert_near(one[:, : t + 1], other[:, : t + 1], 1e-6)
        assert (one[1:, t + 1] - other[1:, t + 1]).abs().max() > 1e-3
        assert (one_reversed[1:, : t + 1] - other_reversed[1:, : t + 1]).abs().amax(2).min() > 1e-6


def test_hash_collisions_of_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distinct tokens are found by a hash."""
    bilm = BiLM.from_files(*write_bilm(tmp_path))
    expected = sentence_layers(bilm, SENTENCES[:1])[0]
    everything_is_one = torch.zeros(7, dtype=torch.long)
    unique = torch.unique
    monkeypatch.setattr(torch, "unique", lambda keys, **options: unique(everything_is_one, **options))
    assert_near(sentence_layers(bilm, SENTENCES[:1])[0], expected)


def test_no_sentences_give_no_vectors(tmp_path: Path) -> None:
    for state in ("reset", "carry"):
        bilm = BiLM.from_files(*write_bilm(tmp_path), state=state)
        assert bilm(batch_to_ids([])).layers.shape == (3, 0, 0, 12)
        assert bilm(batch_to_ids([[], []])).layers.shape == (3, 2, 0, 12)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (torch.ones(2, 3, 49, dtype=torch.long), r"expected shape \[B, T, 50\], got \[2, 3, 49\]"),
        (torch.ones(3, 50, dtype=torch.long), r"expected shape \[B, T, 50\], got \[3, 50\]"),
        (torch.tensor([[0, 1]])[:, :, None].expand(1, 2, 50), "expected padding .* before a token"),
    ],
)
def test_ids_of_invalid_shape(tmp_path: Path, ids: torch.Tensor, message: str) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path))
    with pytest.raises(ValueError, match=message):
        bilm(ids)


@pytest.mark.parametrize("state", ["reset", "carry"])
def test_a_long_text_is_processed_in_parts(tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory for the gates does not grow with the text."""
    files = write_bilm(tmp_path)
    together, in_parts = (BiLM.from_files(*files, state=state) for _ in range(2))
    ids = batch_to_ids([["a", "long", "text"] * 20, ["one"], [], ["and", "another"] * 7])
    expected = [together(ids).layers for _ in range(2)]
    seen = []
    scan = lstm._scan
    monkeypatch.setattr(lstm, "TOKENS_AT_ONCE", 7)
    monkeypatch.setattr(lstm, "_scan", lambda gates, *rest: (seen.append(len(gates)), scan(gates, *rest))[1])
    for layers in expected:
        torch.testing.assert_close(in_parts(ids).layers, layers, atol=1e-6, rtol=0.0)
    assert max(seen) <= 7 and sum(seen) == 2 * 2 * 2 * (62 + 3 + 2 + 16)


def test_bfloat16_gives_nearly_the_same_layers_in_float32(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, products = write_bilm(tmp_path), []
    scan = lstm._scan
    monkeypatch.setattr(lstm, "_scan", lambda gates, *rest: (products.append(gates.dtype), scan(gates, *rest))[1])
    exact, low = BiLM.from_files(*files), BiLM.from_files(*files, precision="bfloat16")
    assert (exact.precision, low.precision, low.dtype) == ("float32", "bfloat16", torch.float32)
    ids = batch_to_ids(SENTENCES)
    mask = exact(ids).mask
    assert products == 4 * [torch.float32]
    low(ids)
    assert products[4:] == 4 * [torch.bfloat16]
    for expected, layer in zip(exact(ids).layers, low(ids).layers, strict=True):
        assert layer.dtype == torch.float32
        assert not torch.equal(layer, expected)
        assert torch.cosine_similarity(layer[mask], expected[mask], dim=1).min() > 0.999


@pytest.mark.parametrize("key", ["state", "precision"])
def test_unknown_modes(tmp_path: Path, key: str) -> None:
    with pytest.raises(InputError, match=f"{key} must be one of .*, got 'int4'"):
        BiLM.from_files(*write_bilm(tmp_path), **{key: "int4"})
