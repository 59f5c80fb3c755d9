"""The official stream: rows of running text, batches."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from elmo_tasks.bilm.bilm import DIRECTIONS
from elmo_tasks.bilm.characters import tokens_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.text.sentences import (
    count_predictions,
    read_sentences,
    shuffled_sentences,
)
from elmo_tasks.pretraining.text.stream import (
    LmBatch,
    LmStream,
    TokenRows,
    TrainingStream,
)
from elmo_tasks.pretraining.vocabulary import WordVocabulary

THREE = [["a", "b", "c"], ["d"], ["e", "f", "g", "h"]]


def predictions(batches: list[LmBatch], direction: str) -> Counter[tuple[bytes, int]]:
    """
    How often each pair of input characters and target was predicted, without masked
    positions.
    """
    found: Counter[tuple[bytes, int]] = Counter()
    for batch in batches:
        side = DIRECTIONS.index(direction)
        mask = batch.mask[side]
        inputs = batch.characters[batch.inputs[side][mask]]
        targets = batch.targets[side][mask]
        for row, target in zip(inputs, targets, strict=True):
            found[row.numpy().tobytes(), int(target)] += 1
    return found


def test_a_batch_by_hand() -> None:
    vocabulary = WordVocabulary(
        ["<S>", "</S>", "<UNK>", "a", "b", "c", "d", "e", "f", "g"]
    )  # h is unknown
    first, second = LmStream(
        iter(THREE), iter(THREE[::-1]), vocabulary, batch_size=2, unroll=4
    )
    types = tokens_to_ids(["<S>", "a", "b", "c", "d", "e", "</S>", "h", "g", "f"])
    assert first.characters.tolist() == types.tolist()
    # Columns are rows of text. Backward reads the third sentence first: `</S> h g f e
    # <S>`.
    assert first.inputs.mT.tolist() == [
        [[0, 1, 2, 3], [0, 4, 0, 5]],
        [[6, 7, 8, 9], [6, 4, 6, 3]],
    ]
    assert first.targets.mT.tolist() == [
        [[3, 4, 5, 1], [6, 1, 7, 8]],
        [[2, 9, 8, 7], [6, 0, 5, 4]],
    ]
    assert first.mask.all() and first.unknown == 1
    assert second.mask[0].T.tolist() == [[False] * 4, [True, True, True, False]]
    assert second.mask[1].T.tolist() == [
        [True] + [False] * 3,
        [True, True, False, False],
    ]
    assert second.targets[1][second.mask[1]].tolist() == [0, 3, 0]
    assert second.unknown == 1


@pytest.mark.parametrize(("batch_size", "unroll"), [(1, 1), (3, 4), (7, 20), (200, 5)])
def test_a_finite_pass_makes_each_prediction_once(
    shards: list[Path], batch_size: int, unroll: int
) -> None:
    vocabulary = WordVocabulary.count(shards)
    forward, backward = (
        read_sentences(shards),
        shuffled_sentences(shards, seed=3, cycle=0),
    )
    batches = list(
        LmStream(forward, backward, vocabulary, batch_size=batch_size, unroll=unroll)
    )
    expected: dict[str, Counter[tuple[bytes, int]]] = {
        "forward": Counter(),
        "backward": Counter(),
    }
    for sentence in read_sentences(shards):
        tokens = ["<S>", *sentence, "</S>"]
        for direction, sequence in (("forward", tokens), ("backward", tokens[::-1])):
            rows = tokens_to_ids(sequence).astype("int64")
            for row, word in zip(rows[:-1], sequence[1:], strict=True):
                expected[direction][row.tobytes(), vocabulary.id(word)] += 1
    assert (
        expected["forward"].total()
        == expected["backward"].total()
        == count_predictions(shards)
    )
    assert predictions(batches, "forward") == expected["forward"]
    assert predictions(batches, "backward") == expected["backward"]


def test_rows_read_no_further_than_they_need() -> None:
    read: list[list[str]] = []

    def source() -> Iterator[list[str]]:
        for sentence in THREE * 3:
            read.append(sentence)
            yield sentence

    rows = TokenRows(source(), range(2), rows=2, unroll=4, backward=False)
    next(rows)
    assert len(read) == 3  # of 4 and of 2 and 5 predictions
    assert rows.remainders() == [[], ["f", "g", "h", "</S>"]]
    next(rows)
    assert rows.remainders() == [[], ["d", "</S>"]]
    resumed = TokenRows(source(), range(2), rows=2, unroll=9, backward=False)
    resumed.resume(rows.remainders())
    assert next(resumed)[1][:3] == [("d", "</S>"), ("<S>", "a"), ("a", "b")]
    with pytest.raises(InputError, match="a checkpoint of batch_size 2, got one of 3"):
        resumed.resume([[], [], []])


def test_the_first_batch_begins_a_text() -> None:
    vocabulary = WordVocabulary(["<S>", "</S>", "<UNK>"])
    stream = LmStream(iter(THREE), iter(THREE), vocabulary, batch_size=1, unroll=4)
    assert [batch.begins for batch in stream] == [True, False, False]
    assert next(stream, None) is None
    assert not LmBatch(*[torch.zeros(1)] * 4, unknown=0).begins


def test_one_direction_that_ends_first() -> None:
    vocabulary = WordVocabulary(["<S>", "</S>", "<UNK>", "a"])
    sizes = {"batch_size": 2, "unroll": 3}
    batches = list(LmStream(iter(THREE), iter(THREE[:1]), vocabulary, **sizes))
    masks = [batch.mask.sum((1, 2)).tolist() for batch in batches]
    assert masks == [[6, 3], [4, 1], [1, 0]]
    assert batches[2].targets[1].tolist() == [[1, 1]] * 3
    assert [batch.unknown for batch in batches] == [
        int((batch.targets == 2).sum()) for batch in batches
    ]
    assert batches[0].characters.shape[0] == len(batches[0].inputs.unique())


def test_the_position_of_a_training(shards: list[Path]) -> None:
    vocabulary = WordVocabulary.count(shards)
    sizes = {"batch_size": 3, "unroll": 20}
    stream = TrainingStream(shards, vocabulary, seed=1, **sizes)
    assert stream.position()["has_begun"] is False
    for _ in range(11):
        next(stream)
    position = stream.position()
    assert position["forward"]["cycle"] == 1 and position["has_begun"] is True
    assert position["forward"] != position["backward"]
    resumed = TrainingStream(shards, vocabulary, seed=1, **sizes)
    resumed.move_to(position)
    for _ in range(9):
        one, other = next(stream), next(resumed)
        assert torch.equal(one.targets, other.targets) and not other.begins
        assert torch.equal(one.characters, other.characters)
    assert stream.position() == resumed.position()
    fresh = TrainingStream(shards, vocabulary, seed=1, **sizes)
    fresh.move_to(TrainingStream(shards, vocabulary, seed=2, **sizes).position())
    assert next(fresh).begins


def test_the_order_of_a_seed(shards: list[Path]) -> None:
    """Checkpoints of older versions depend on it: the backward seed is 0x5EED more."""
    vocabulary = WordVocabulary.count(shards)
    batch = next(TrainingStream(shards, vocabulary, seed=7, batch_size=1, unroll=60))
    for side, seed in ((0, 7), (1, 7 + 0x5EED)):
        expected: list[int] = []
        for sentence in shuffled_sentences(shards, seed=seed, cycle=0):
            tokens = ["<S>", *sentence, "</S>"][:: -1 if side else 1]
            expected += [vocabulary.id(token) for token in tokens[1:]]
        assert batch.targets[side, :, 0].tolist() == expected[:60]
