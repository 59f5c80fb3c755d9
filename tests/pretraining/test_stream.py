"""The official stream: rows of running text, batches."""

from collections import Counter
from pathlib import Path

import pytest

from elmo_tasks.bilm.bilm import DIRECTIONS
from elmo_tasks.bilm.characters import tokens_to_ids
from elmo_tasks.pretraining.sentences import (
    count_predictions,
    read_sentences,
    shuffled_sentences,
)
from elmo_tasks.pretraining.stream import LmBatch, LmStream
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
