"""The official stream: rows of running text, batches."""

import os
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
import torch

from elmo_tasks.bilm.characters import tokens_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.sentences import EndlessSentences, SentenceSource, expand_files
from elmo_tasks.pretraining.stream import (
    LmBatch,
    LmStream,
    TokenRows,
)
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary

THREE = [["a", "b", "c"], ["d"], ["e", "f", "g", "h"]]


def vocabulary_of(*words: str) -> WordVocabulary:
    return WordVocabulary(["<S>", "</S>", "<UNK>", *words])


def predictions(batches: list[LmBatch], direction: str) -> Counter[tuple[bytes, int]]:
    """How often each (input characters, target) was asked for, masked positions apart."""
    found: Counter[tuple[bytes, int]] = Counter()
    for batch in batches:
        mask = getattr(batch, f"{direction}_mask")
        inputs = batch.characters[getattr(batch, f"{direction}_inputs")[mask]]
        targets = getattr(batch, f"{direction}_targets")[mask]
        found.update((row.numpy().tobytes(), int(target)) for row, target in zip(inputs, targets, strict=True))
    return found


# --- rows: by hand


def test_forward_rows_by_hand() -> None:
    first, second, *rest = TokenRows(iter(THREE), rows=2, unroll=4, backward=False)
    # Row 0 takes the first sentence to its end exactly; row 1 the second, then begins the third.
    assert first.inputs == [["<S>", "a", "b", "c"], ["<S>", "d", "<S>", "e"]]
    assert first.targets == [["a", "b", "c", "</S>"], ["d", "</S>", "e", "f"]]
    assert first.lengths == [4, 4]
    # No sentence is left for row 0; row 1 ends the third one step early.
    assert second.inputs[1][:3] == ["f", "g", "h"]
    assert second.targets[1][:3] == ["g", "h", "</S>"]
    assert second.lengths == [0, 3]
    assert [len(row) for row in second.inputs + second.targets] == [4] * 4
    assert rest == []


def test_backward_rows_by_hand() -> None:
    first, second, *rest = TokenRows(iter(THREE), rows=2, unroll=4, backward=True)
    assert first.inputs == [["</S>", "c", "b", "a"], ["</S>", "d", "</S>", "h"]]
    assert first.targets == [["c", "b", "a", "<S>"], ["d", "<S>", "h", "g"]]
    assert first.lengths == [4, 4]
    assert second.inputs[1][:3] == ["g", "f", "e"]
    assert second.targets[1][:3] == ["f", "e", "<S>"]
    assert second.lengths == [0, 3]
    assert rest == []


def test_a_batch_by_hand() -> None:
    vocabulary = vocabulary_of("a", "b", "c", "d", "e", "f", "g")  # ids 3..9; h is unknown
    first, second = LmStream(iter(THREE), iter(THREE[::-1]), vocabulary, batch_size=2, unroll=4)
    types = tokens_to_ids(["<S>", "a", "b", "c", "d", "e", "</S>", "h", "g", "f"])
    assert first.characters.tolist() == types.tolist()
    # Columns are rows of text. Backward reads the third sentence first: `</S> h g f e <S>`.
    assert first.forward_inputs.T.tolist() == [[0, 1, 2, 3], [0, 4, 0, 5]]
    assert first.forward_targets.T.tolist() == [[3, 4, 5, 1], [6, 1, 7, 8]]
    assert first.backward_inputs.T.tolist() == [[6, 7, 8, 9], [6, 4, 6, 3]]
    assert first.backward_targets.T.tolist() == [[2, 9, 8, 7], [6, 0, 5, 4]]
    assert first.forward_mask.all() and first.backward_mask.all() and first.unknown == 1
    assert second.forward_mask.T.tolist() == [[False] * 4, [True, True, True, False]]
    assert second.backward_mask.T.tolist() == [[True] + [False] * 3, [True, True, False, False]]
    assert second.backward_targets[second.backward_mask].tolist() == [0, 3, 0]
    assert second.unknown == 1


def test_types_and_shapes() -> None:
    batch = next(LmStream(iter(THREE), iter(THREE), vocabulary_of("a"), batch_size=3, unroll=2))
    ids = [batch.forward_inputs, batch.backward_inputs, batch.forward_targets, batch.backward_targets]
    assert [(tensor.dtype, tensor.shape) for tensor in ids] == [(torch.long, (2, 3))] * 4
    masks = [batch.forward_mask, batch.backward_mask]
    assert [(mask.dtype, mask.shape) for mask in masks] == [(torch.bool, (2, 3))] * 2
    assert batch.characters.dtype == torch.long and batch.characters.shape[1] == 50
    moved = batch.to("meta")
    assert moved.unknown == batch.unknown
    assert all(value.device.type == "meta" for value in vars(moved).values() if torch.is_tensor(value))


# --- whole passes


@pytest.mark.parametrize(("batch_size", "unroll"), [(1, 1), (3, 4), (7, 20), (200, 5)])
def test_a_finite_pass_asks_each_prediction_once(shards: list[Path], batch_size: int, unroll: int) -> None:
    source = SentenceSource(shards, shuffle=False, seed=0)
    vocabulary = WordVocabulary.count(shards)
    forward, backward = source.once(0), SentenceSource(shards, shuffle=True, seed=3).once(0)
    batches = list(LmStream(forward, backward, vocabulary, batch_size=batch_size, unroll=unroll))
    wanted: dict[str, Counter[tuple[bytes, int]]] = {"forward": Counter(), "backward": Counter()}
    for sentence in source.once(0):
        tokens = ["<S>", *sentence, "</S>"]
        for direction, sequence in (("forward", tokens), ("backward", tokens[::-1])):
            rows = tokens_to_ids(sequence).astype("int64")
            pairs = zip(rows[:-1], map(vocabulary.id, sequence[1:]), strict=True)
            wanted[direction].update((row.tobytes(), target) for row, target in pairs)
    assert wanted["forward"].total() == wanted["backward"].total() == sum(vocabulary.counts[1:])
    assert predictions(batches, "forward") == wanted["forward"]
    assert predictions(batches, "backward") == wanted["backward"]


def test_the_direction_that_ends_first_goes_on_masked() -> None:
    batches = list(LmStream(iter([["d"]]), iter(THREE), vocabulary_of("a"), batch_size=1, unroll=4))
    assert [int(batch.forward_mask.sum()) for batch in batches] == [2, 0, 0]
    assert [int(batch.backward_mask.sum()) for batch in batches] == [4, 4, 3]
    assert all(int(batch.forward_inputs.max()) < len(batch.characters) for batch in batches)


def test_an_endless_stream_is_never_masked(shards: list[Path]) -> None:
    forward, backward = (EndlessSentences(SentenceSource(shards, shuffle=True, seed=seed)) for seed in (1, 2))
    stream = LmStream(forward, backward, vocabulary_of("w"), batch_size=8, unroll=10)
    batches = list(islice(stream, 40))  # 3200 predictions a direction, of about 550 in a cycle
    assert len(batches) == 40
    assert all(batch.forward_mask.all() and batch.backward_mask.all() for batch in batches)


def test_directions_of_one_step_hold_different_sentences(shards: list[Path]) -> None:
    forward, backward = (EndlessSentences(SentenceSource(shards, shuffle=True, seed=seed)) for seed in (1, 2))
    vocabulary = WordVocabulary.count(shards)
    batch = next(LmStream(forward, backward, vocabulary, batch_size=4, unroll=6))
    known = [set(batch.forward_targets.flatten().tolist()), set(batch.backward_targets.flatten().tolist())]
    of_sentences = [{vocabulary.words[id_] for id_ in ids if vocabulary.words[id_][0] == "s"} for ids in known]
    assert min(map(len, of_sentences)) >= 4
    assert of_sentences[0] != of_sentences[1]


def test_an_unknown_target_keeps_its_characters_as_input() -> None:
    batch = next(LmStream(iter([["naïve"]]), iter([["a"]]), vocabulary_of("a"), batch_size=1, unroll=2))
    assert batch.forward_targets[:, 0].tolist() == [UNKNOWN, 1]
    row = batch.characters[batch.forward_inputs[1, 0]]
    assert row.tolist() == tokens_to_ids(["naïve"])[0].tolist()
    assert batch.unknown == 1


def test_rows_read_no_further_than_a_window_needs() -> None:
    read: list[int] = []
    sentences = (read.append(k) or ["w"] * 9 for k in range(1000))
    rows = TokenRows(sentences, rows=3, unroll=20, backward=False)
    assert next(rows).lengths == [20] * 3
    assert len(read) == 6  # two sentences of ten predictions fill a row exactly


# --- mistakes


def test_sizes_below_one() -> None:
    with pytest.raises(InputError, match="batch_size must be 1 or more, found 0"):
        LmStream(iter(THREE), iter(THREE), vocabulary_of(), batch_size=0, unroll=4)
    with pytest.raises(InputError, match="unroll must be 1 or more, found -2"):
        LmStream(iter(THREE), iter(THREE), vocabulary_of(), batch_size=1, unroll=-2)


def test_one_iterator_for_both_directions() -> None:
    sentences = iter(THREE)
    with pytest.raises(ValueError, match="an iterator each"):
        LmStream(sentences, sentences, vocabulary_of(), batch_size=1, unroll=1)


# --- real text


def test_real_shards_stream() -> None:
    root = Path(os.environ.get("ELMO_TASKS_REAL_DATA", "../shared/data")) / "lm"
    if not root.is_dir():
        pytest.skip(f"real text is absent: no folder {root}")
    files = expand_files(str(root / "heldout.*.txt.gz"))
    assert len(files) > 1
    vocabulary = WordVocabulary.count(files[:1], size=1000)
    sources = [SentenceSource(files, shuffle=True, seed=seed, shuffle_buffer=2000) for seed in (1, 2)]
    stream = LmStream(*map(EndlessSentences, sources), vocabulary, batch_size=128, unroll=20)
    batches = list(islice(stream, 20))
    assert len(batches) == 20
    assert 0.05 < sum(batch.unknown for batch in batches) / (20 * 2 * 128 * 20) < 0.6
