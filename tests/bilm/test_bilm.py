"""The layers: equal to AllenNLP's and to NumPy's, whatever the batch, and blind to what comes later."""

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


def assert_near(found: Any, wanted: Any, tolerance: float = 1e-5) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max(initial=0.0) < tolerance


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
        for found, wanted in pairs:
            assert_near(found, wanted)


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
        wanted = reference.layers(sentences, carry=state == "carry")
        for ours, theirs in zip(sentence_layers(bilm, sentences), wanted, strict=True):
            assert_near(ours, theirs)


@pytest.mark.parametrize("clip", ["cell_clip", "proj_clip"])
def test_each_clip_bites(tmp_path: Path, clip: str) -> None:
    free = BiLM.from_files(*write_bilm(tmp_path, cell_clip=None, proj_clip=None))
    clipped = BiLM.from_files(*write_bilm(tmp_path, **{"cell_clip": None, "proj_clip": None, clip: BITING[clip]}))
    one, other = (sentence_layers(bilm, SENTENCES[:1])[0] for bilm in (free, clipped))
    assert torch.equal(one[0], other[0])
    assert (one[1:] - other[1:]).abs().max() > 0.1


def test_a_batch_without_tokens_carries_its_boundaries(tmp_path: Path) -> None:
    files = write_bilm(tmp_path)
    bilm, reference = BiLM.from_files(*files, state="carry"), Reference(*files)
    for sentences in ([[], []], [["after"], ["nothing", "."]]):
        wanted = reference.layers(sentences, carry=True)
        for ours, theirs in zip(sentence_layers(bilm, sentences), wanted, strict=True):
            assert_near(ours, theirs)


def test_forgotten_states_start_from_zero(tmp_path: Path) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path), state="carry")
    first = sentence_layers(bilm, SENTENCES[:1])[0]
    second = sentence_layers(bilm, SENTENCES[:1])[0]
    bilm.reset_states()
    third = sentence_layers(bilm, SENTENCES[:1])[0]
    assert (first[1:] - second[1:]).abs().max() > 0.01
    assert torch.equal(first, third)


def test_a_shuffled_rebatched_corpus_gives_the_same_vectors(tmp_path: Path) -> None:
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


def test_changing_tokens_after_t_leaves_the_forward_half_up_to_t_unchanged(tmp_path: Path) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path, n_layers=3))
    width = bilm.options.projection_dim
    before = ["the", "boat", "left", "the", "bay"]
    for t in range(4):
        after = before[: t + 1] + ["quite", "other", "words"][: 3 - t // 2]
        one, other = sentence_layers(bilm, [before])[0], sentence_layers(bilm, [after])[0]
        assert_near(one[:, : t + 1, :width], other[:, : t + 1, :width], 1e-6)
        assert (one[1:, t + 1, :width] - other[1:, t + 1, :width]).abs().max() > 1e-3
        assert (one[1:, : t + 1, width:] - other[1:, : t + 1, width:]).abs().amax(2).min() > 1e-6


def test_changing_tokens_before_t_leaves_the_backward_half_from_t_unchanged(tmp_path: Path) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path, n_layers=3))
    width = bilm.options.projection_dim
    before = ["the", "boat", "left", "the", "bay"]
    for t in range(1, 5):
        after = ["quite", "other", "words"][: 3 - t // 2] + before[t:]
        one, other = sentence_layers(bilm, [before])[0], sentence_layers(bilm, [after])[0]
        kept = len(before) - t
        assert_near(one[:, -kept:, width:], other[:, -kept:, width:], 1e-6)
        assert (one[1:, t - 1, width:] - other[1:, -kept - 1, width:]).abs().max() > 1e-3
        assert (one[1:, -kept:, :width] - other[1:, -kept:, :width]).abs().amax(2).min() > 1e-6


def test_layer_0_is_the_token_vector_twice(tmp_path: Path) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path))
    layers = sentence_layers(bilm, [["a", "b", "a"]])[0]
    assert torch.equal(layers[0, :, :6], layers[0, :, 6:])
    assert torch.equal(layers[0, 0], layers[0, 2])
    assert not torch.equal(layers[1, 0], layers[1, 2])


def test_frozen_and_in_evaluation_mode(tmp_path: Path) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path))
    assert not bilm.training
    assert len(list(bilm.parameters())) == 35
    assert not any(parameter.requires_grad for parameter in bilm.parameters())
    assert not bilm(batch_to_ids([["a"]])).layers.requires_grad


def test_equal_token_hashes_are_no_equal_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token encoder computes each type once, found by a hash; where two types share it, the vectors must not."""
    bilm = BiLM.from_files(*write_bilm(tmp_path))
    wanted = sentence_layers(bilm, SENTENCES[:1])[0]
    everything_is_one = torch.zeros(7, dtype=torch.long)
    unique = torch.unique
    monkeypatch.setattr(torch, "unique", lambda keys, **options: unique(everything_is_one, **options))
    assert_near(sentence_layers(bilm, SENTENCES[:1])[0], wanted)


def test_no_sentences_give_no_vectors(tmp_path: Path) -> None:
    for state in ("reset", "carry"):
        bilm = BiLM.from_files(*write_bilm(tmp_path), state=state)
        assert bilm(batch_to_ids([])).layers.shape == (3, 0, 0, 12)
        assert bilm(batch_to_ids([[], []])).layers.shape == (3, 2, 0, 12)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (torch.ones(2, 3, 49, dtype=torch.long), r"must have the shape \[B, T, 50\], found \[2, 3, 49\]"),
        (torch.ones(3, 50, dtype=torch.long), r"must have the shape \[B, T, 50\], found \[3, 50\]"),
        (torch.tensor([[0, 1]])[:, :, None].expand(1, 2, 50), "padding token .* before a real one"),
    ],
)
def test_ids_of_a_wrong_form(tmp_path: Path, ids: torch.Tensor, message: str) -> None:
    bilm = BiLM.from_files(*write_bilm(tmp_path))
    with pytest.raises(ValueError, match=message):
        bilm(ids)


def test_an_unknown_state(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="state must be one of reset, carry, got 'keep'"):
        BiLM.from_files(*write_bilm(tmp_path), state="keep")


@pytest.mark.parametrize("state", ["reset", "carry"])
def test_a_long_text_is_read_in_parts(tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that memory for the gates does not grow with the text, and the layers stay the same."""
    files = write_bilm(tmp_path)
    together, in_parts = (BiLM.from_files(*files, state=state) for _ in range(2))
    ids = batch_to_ids([["a", "long", "text"] * 20, ["one"], [], ["and", "another"] * 7])
    wanted = [together(ids).layers for _ in range(2)]
    seen = []
    scan = lstm._scan
    monkeypatch.setattr(lstm, "TOKENS_AT_ONCE", 7)
    monkeypatch.setattr(lstm, "_scan", lambda gates, *rest: (seen.append(len(gates)), scan(gates, *rest))[1])
    for layers in wanted:
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
    for wanted, layer in zip(exact(ids).layers, low(ids).layers, strict=True):
        assert layer.dtype == torch.float32
        assert not torch.equal(layer, wanted)
        assert torch.cosine_similarity(layer[mask], wanted[mask], dim=1).min() > 0.999


def test_an_unknown_precision(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="precision must be one of float32, bfloat16, got 'int4'"):
        BiLM.from_files(*write_bilm(tmp_path), precision="int4")
