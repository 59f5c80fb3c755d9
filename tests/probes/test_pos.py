"""
Parts of speech: accuracy by layer, on seen and unseen words, and overlapping files.
"""

from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.mcnemar import neighbours
from elmo_tasks.experiments.probes.pos import BASELINE, PosReport, probe_pos
from tests.probes.samples import known


def lengths(words: list[str], t: int) -> list[list[float]]:
    """
    Layer 0 is constant, layer 1 the length of the word, layer 2 that of the previous
    word.
    """
    return [[1.0], [float(len(words[t]))], [float(len(words[t - 1])) if t else 0.0]]


ENCODER = known(lengths)


def probe(folder: Path, train: str, test: str) -> PosReport:
    """On lines of `word/tag`."""
    for name, text in (("train", train), ("test", test)):
        (folder / name).write_text("\n".join(map(conllu, text.splitlines())))
    return probe_pos(ENCODER, folder / "train", folder / "test")


def conllu(line: str) -> str:
    text = ""
    for number, pair in enumerate(line.split(), start=1):
        word, _, tag = pair.partition("/")
        text += f"{number}\t{word}\t_\t_\t{tag}\t_\t_\t_\t_\t_\n"
    return text


def scores(report: PosReport) -> dict[str, tuple[float | None, ...]]:
    return {row.name: (row.accuracy, row.seen, row.unseen) for row in report.rows}


def test_accuracy(tmp_path: Path) -> None:
    """Short words are S, long ones L, except `ox`, which is L after a long word."""
    train = "a/S harbour/L ox/L it/S\nb/S c/S ferries/L ox/L ox/S ox/S\n" * 10
    report = probe(tmp_path, train, "ox/S a/S steamers/L\ncoal/X\n")
    found = scores(report)
    assert found["KnownLayers 1"] == (75, 100, 50)
    assert found["KnownLayers 0"] == (50, 100, 0)  # always S, which is more frequent
    assert found[BASELINE] == (
        50,
        100,
        0,
    )  # no word was seen once, so that unseen words get the most frequent tag: S
    assert (
        report.tags,
        report.train_tokens,
        report.test_tokens,
        report.unseen_tokens,
    ) == (2, 100, 4, 2)


def test_the_most_frequent_tag(tmp_path: Path) -> None:
    """
    `ox` is most often S; of the words seen once, two are L and one is S, so that unseen
    words such as `Ox` are L.
    """
    report = probe(
        tmp_path, "ox/S ox/S ox/L harbour/L ferry/L a/S\n", "ox/L ox/S Ox/L it/S\n"
    )
    assert scores(report)[BASELINE] == (50, 50, 50)
    assert scores(probe(tmp_path, "ox/S ferry/L\n", "ferry/L ox/S\n"))[
        "KnownLayers 1"
    ] == (
        100,
        100,
        None,
    )


def test_one_tag(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least two different tags, got only 'UH'"):
        probe(tmp_path, "Yes/UH no/UH\n", "Yes/UH\n")


def test_discordant_items() -> None:
    """
    Counts and p by hand: of six items that one alone gets right, five or more are one
    row's with p = 2 * 7/64.
    """
    one, other = (
        np.array([1, 1, 1, 1, 1, 0, 1, 0], bool),
        np.array([0, 0, 0, 0, 0, 1, 1, 0], bool),
    )
    (pair,) = neighbours({"layer 1": one, "layer 2": other})
    assert pair == ("layer 1", "layer 2", 5, 1, pytest.approx(14 / 64))
    assert neighbours({"layer 1": one, "layer 2": one})[0].p == 1
