"""Text files -> sentences: names, orders, cycles, memory."""

import os
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining import sentences as sentences_module
from elmo_tasks.pretraining.sentences import (
    EndlessSentences,
    MixedSource,
    SentenceSource,
    expand_files,
    require_text,
    shuffled_in_blocks,
)


def names(sentences: Iterator[list[str]]) -> list[str]:
    return [sentence[0] for sentence in sentences]


def test_each_sentence_comes_once_a_cycle(shards: list[Path]) -> None:
    source = SentenceSource(shards, shuffle=True, seed=1, shuffle_buffer=16)
    cycles = [names(source.once(cycle)) for cycle in range(3)]
    assert [sorted(cycle) for cycle in cycles] == [sorted(f"s{k}" for k in range(120))] * 3
    assert len({tuple(cycle) for cycle in cycles}) == 3
    assert source.blank_lines == 4


def test_unshuffled_text_keeps_its_order(shards: list[Path]) -> None:
    source = SentenceSource(shards, shuffle=False, seed=1)
    assert names(source.once(0)) == names(source.once(1)) == [f"s{k}" for k in range(120)]


def test_the_seed_decides_the_order(shards: list[Path]) -> None:
    def order(seed: int) -> list[str]:
        return names(SentenceSource(shards, shuffle=True, seed=seed).once(7))

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_files_come_in_another_order_each_cycle(shards: list[Path]) -> None:
    source = SentenceSource(shards, shuffle=True, seed=1, shuffle_buffer=1)
    firsts = {next(source.once(cycle))[0] for cycle in range(20)}
    assert firsts == {"s0", "s50", "s70"}


def test_endless_goes_through_the_cycles(shards: list[Path]) -> None:
    source = SentenceSource(shards, shuffle=True, seed=1)
    wanted = [*source.once(4), *source.once(5)]
    endless = EndlessSentences(source)
    endless.move_to(cycle=4, taken=7)
    assert list(islice(endless, 233)) == wanted[7:]
    assert (endless.cycle, endless.taken) == (5, 120)


def test_the_shuffle_reads_one_block_ahead_and_lets_it_go() -> None:
    read: list[str] = []

    def lines() -> Iterator[str]:
        for k in range(1000):
            read.append(str(k))
            yield read[-1]

    shuffled = shuffled_in_blocks(lines(), 100, random.Random(0))
    given = list(islice(shuffled, 250))
    assert len(read) == 300
    assert given[:100] != read[:100] and sorted(given[:100]) == sorted(read[:100])


def test_a_source_reads_one_block_ahead(shards: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def endless_file(path: Path) -> Iterator[tuple[int, str]]:
        for line in range(1, 10**9):
            read.append(line)
            yield line, f"s{line}"

    monkeypatch.setattr(sentences_module, "open_text", endless_file)
    source = SentenceSource(shards[:1], shuffle=True, seed=1, shuffle_buffer=50)
    assert len(list(islice(source.once(0), 101))) == 101
    assert len(read) == 150


# --- files


def test_patterns_name_files_once_and_sorted(shards: list[Path], tmp_path: Path) -> None:
    gz, plain = str(tmp_path / "*.gz"), str(tmp_path / "train.?.txt")
    assert expand_files([gz, plain, str(shards[1])]) == shards
    assert expand_files(f"{gz}, {plain}") == shards
    assert expand_files(str(tmp_path / ".." / tmp_path.name / "train.0.txt") + f",{shards[0]}") == shards[:1]
    assert len(shards) == 3


def test_a_path_that_looks_like_a_pattern(tmp_path: Path) -> None:
    odd = tmp_path / "a,b[1].txt"
    odd.write_text("x\n")
    assert expand_files(str(odd)) == [odd]
    assert expand_files([str(odd)]) == [odd]


def test_globs_reach_into_folders_and_skip_them(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "x.txt").write_text("x\n")
    assert expand_files(str(tmp_path / "**")) == [tmp_path / "deep" / "er" / "x.txt"]


def test_patterns_without_files(shards: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"at '.*held\.\*', nothing matches"):
        expand_files([str(shards[0]), str(tmp_path / "held.*")])
    with pytest.raises(InputError, match="text files were wanted at .* it is a folder"):
        expand_files(str(tmp_path))
    with pytest.raises(InputError, match="no text file is named"):
        expand_files([])
    with pytest.raises(InputError, match="no text file is named"):
        expand_files(" ,")


def test_files_are_read_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any stretch of the stream holds every file in its share, however few may be open at once."""
    sizes = {"a": 300, "b": 600, "c": 300}
    for name, count in sizes.items():
        (tmp_path / name).write_text("".join(f"{name} {i}\n" for i in range(count)))
    source = MixedSource(sorted(tmp_path.iterdir()), shuffle=True, seed=3)
    found = list(source.once(0))
    assert sorted(found) == sorted([name, str(i)] for name, count in sizes.items() for i in range(count))
    for stretch in (found[:400], found[400:800]):
        shares = {name: sum(word == name for word, _ in stretch) / 400 for name in sizes}
        assert shares == pytest.approx({"a": 0.25, "b": 0.5, "c": 0.25}, abs=0.08)
    assert found == list(source.once(0)) != list(source.once(1))
    monkeypatch.setattr(sentences_module, "_FILES_AT_ONCE", 2)
    assert sorted(source.once(0)) == sorted(found)


# --- mistakes


def test_an_empty_corpus_ends_at_once_even_when_endless(tmp_path: Path) -> None:
    path = tmp_path / "blank.txt"
    path.write_text("\n \n")
    source = SentenceSource([path, path], shuffle=True, seed=1)
    with pytest.raises(InputError, match=r"blank\.txt: no sentence .* nor in the 1 others"):
        next(EndlessSentences(source))
    with pytest.raises(InputError, match="one file or more was wanted, found none"):
        SentenceSource([], shuffle=True, seed=1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: a regular file was wanted"):
        expand_files(str(tmp_path / "pipe"))


def test_every_file_is_looked_into(shards: list[Path], tmp_path: Path) -> None:
    require_text(shards)
    for name, content in (("none.txt", ""), ("blank.txt", "\n \n")):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=f"{name}: no sentence in this file"):
            require_text([*shards, tmp_path / name])


def test_an_empty_block(shards: list[Path]) -> None:
    with pytest.raises(InputError, match="shuffle_buffer must be 1 or more, found 0"):
        SentenceSource(shards, shuffle=True, seed=1, shuffle_buffer=0)


def test_a_missing_shard_is_named(shards: list[Path], tmp_path: Path) -> None:
    source = SentenceSource([tmp_path / "gone.txt"], shuffle=True, seed=1)
    with pytest.raises(InputError, match=r"gone\.txt: no such file"):
        next(source.once(0))
