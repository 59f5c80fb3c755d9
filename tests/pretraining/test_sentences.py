"""Text files -> sentences: patterns, order, cycles, memory."""

import os
import random
import resource
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.text.sentences import (
    EndlessSentences,
    check_text,
    count_predictions,
    expand_files,
    read_sentences,
    shuffled_in_blocks,
    shuffled_sentences,
)


def test_order(shards: list[Path]) -> None:
    sentences = list(read_sentences(shards))
    names = [sentence[0] for sentence in sentences]
    assert names == [f"s{k}" for k in range(120)]
    orders = []
    for seed, cycle in ((1, 0), (1, 1), (2, 0)):
        order = list(shuffled_sentences(shards, seed=seed, cycle=cycle))
        assert sorted(order) == sorted(sentences)
        assert order not in orders
        orders.append(order)
    assert list(shuffled_sentences(shards, seed=1, cycle=1)) == orders[1]


def test_endless_sentences_run_through_the_cycles(shards: list[Path]) -> None:
    first = EndlessSentences(shards, seed=1)
    second = EndlessSentences(shards, seed=1)
    expected = list(islice(first, 5 * 120 + 233))[4 * 120 + 7 :]
    assert (first.cycle, first.taken) == (6, 113)
    second.move_to(cycle=4, taken=7)
    assert list(islice(second, len(expected))) == expected


def test_files_are_read_side_by_side(tmp_path: Path) -> None:
    """Any stretch of the stream has sentences of every file in proportion."""
    sizes = {"a": 300, "b": 600, "c": 300}
    for name, count in sizes.items():
        (tmp_path / name).write_text("".join(f"{name} {i}\n" for i in range(count)))
    found = list(shuffled_sentences(sorted(tmp_path.iterdir()), seed=3, cycle=0))
    for stretch in (found[:400], found[400:800]):
        counts = Counter(word for word, _ in stretch)
        assert counts == pytest.approx({"a": 100, "b": 200, "c": 100}, abs=32)


def test_few_files_are_open_at_a_time(tmp_path: Path) -> None:
    """
    Of forty that are longer than what is read at once, 32; each sentence is still read
    once.
    """
    length = 200_000 // 32 + 100
    for number in range(40):
        (tmp_path / f"{number}").write_text(f"{number}\n" * length)
    files = sorted(tmp_path.iterdir())
    free = [os.dup(0) for _ in range(32)]  # the lowest that are free
    for descriptor in free:
        os.close(descriptor)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(free) + 1, hard))
    try:
        found = Counter(word for (word,) in shuffled_sentences(files, seed=3, cycle=0))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found == {str(number): length for number in range(40)}


def test_patterns(shards: list[Path], tmp_path: Path) -> None:
    gz, plain = str(tmp_path / "*.gz"), str(tmp_path / "train.?.txt")
    assert expand_files([gz, plain, str(shards[1])]) == shards
    same = tmp_path / ".." / tmp_path.name / "train.0.txt"
    assert expand_files([str(same), str(shards[0])]) == shards[:1]
    odd = tmp_path / "a,b[1].txt"
    odd.write_text("x\n")
    assert expand_files(str(odd)) == expand_files([str(odd)]) == [odd]


def test_invalid_patterns(shards: list[Path], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "blank.txt").write_text("\n \n")
    for patterns, message in (
        ([str(shards[0]), str(tmp_path / "held.*")], r"held\.\*: .*nothing matches"),
        (str(tmp_path), "nothing matches"),
        ([], "got no name"),
        (str(tmp_path / "pipe"), "pipe: expected a regular file"),
        (
            [str(shards[0]), str(tmp_path / "blank.txt")],
            r"blank\.txt: no sentence in this file",
        ),
    ):
        with pytest.raises(InputError, match=message):
            check_text(expand_files(patterns))


def test_predictions(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a b\n\nc\n")
    (tmp_path / "b").write_text("d\n")
    assert count_predictions([tmp_path / "a", tmp_path / "b"]) == 3 + 2 + 2
    assert list(read_sentences([tmp_path / "a"])) == [["a", "b"], ["c"]]
    (tmp_path / "c").write_text("\n")
    with pytest.raises(InputError, match="c: no sentence in this file"):
        list(read_sentences([tmp_path / "a", tmp_path / "c"]))
    check_text([])


@given(st.integers(0, 30), st.integers(1, 9))
def test_lines_are_shuffled_within_blocks(count: int, size: int) -> None:
    lines = [str(number) for number in range(count)]
    read: list[str] = []

    def source() -> Iterator[str]:
        for line in lines:
            read.append(line)
            yield line

    found = []
    for line in shuffled_in_blocks(source(), size, random.Random(1)):
        found.append(line)
        assert len(read) <= len(found) + size
    for start in range(0, count, size):
        block = slice(start, start + size)
        assert sorted(found[block]) == sorted(lines[block])
