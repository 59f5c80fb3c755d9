"""
Raganato et al.'s XML and keys, and WordNet's index.sense: valid and invalid files.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.senses import (
    Target,
    read_first_senses,
    read_keys,
    read_senses,
)
from tests.probes.samples import INDEX_SENSE, SEMCOR

HEAD = '<?xml version="1.0" encoding="UTF-8" ?>\n<corpus lang="en">\n<text id="d">\n<sentence id="s">\n'
TAIL = "</sentence>\n</text>\n</corpus>\n"
INSTANCE = '<instance id="t0" lemma="play" pos="NOUN">play</instance>\n'


def test_the_fixture() -> None:
    sentences = list(read_senses(SEMCOR))
    assert len(sentences) == 24
    schools = sentences[21]
    assert (
        " ".join(schools.words)
        == "The primary school stood near the town hall & the market ."
    )
    first, second = schools.targets
    assert first[:5] == ("d000.s021.t000", "primary_school", "NOUN", 1, 3)
    assert (second.start, second.end, schools.words[6:8]) == (6, 8, ["town", "hall"])
    assert (
        SEMCOR.read_text()
        .splitlines()[first.line - 1]
        .endswith(">primary school</instance>")
    )


def test_text_is_split_at_white_space(tmp_path: Path) -> None:
    text = '<instance id="t" lemma="Mock_Trial" pos="VERB"> mock\n\ttrial&#233;s </instance><wf>A&amp;B</wf>\n'
    (sentence,) = read_senses(written(tmp_path, HEAD + text + TAIL))
    assert sentence.words == ["mock", "trialés", "A&B"]
    assert sentence.targets == [Target("t", "mock_trial", "VERB", 0, 2, 6)]


def written(folder: Path, text: str) -> Path:
    file = folder / "x.data.xml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (HEAD + INSTANCE + "</text>", 6, "malformed XML: mismatched tag"),
        (
            '<!DOCTYPE corpus [<!ENTITY a "aa">]>\n<corpus/>',
            1,
            "expected no document type definition",
        ),
        (HEAD + "loose\n<wf>a</wf>" + TAIL, 6, "around every word"),
        (
            HEAD + INSTANCE.replace("NOUN", "NN") + TAIL,
            5,
            "NOUN, VERB, ADJ or ADV.*'NN'",
        ),
        (HEAD + INSTANCE + INSTANCE + TAIL, 6, "unique ids, got 't0' again"),
    ],
)
def test_invalid_xml(tmp_path: Path, text: str, line: int, problem: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InputError, match=rf"{file}:{line}: .*{problem}"):
        list(read_senses(file))


def test_keys(tmp_path: Path) -> None:
    file = tmp_path / "x.gold.key.txt"
    file.write_text(
        "a play%1:10:01::\r\n\nb fit%5:00:00:healthy:00 fit%3:00:00:: fit%3:00:00::\n"
    )
    assert read_keys(file) == {
        "a": ("play%1:10:01::",),
        "b": ("fit%5:00:00:healthy:00", "fit%3:00:00::"),
    }


def test_first_senses(tmp_path: Path) -> None:
    first = read_first_senses(INDEX_SENSE)
    assert first["fall", "VERB"] == "fall%2:38:03::"  # rank 1, not on the first line
    assert (
        first["play", "NOUN"] == "play%1:10:01::"
        and first["play", "VERB"] == "play%2:33:00::"
    )
    file = tmp_path / "index.sense"
    file.write_text("fit%5:00:00:able:00 00000001 1 0\nfit%3:00:00:: 00000002 1 9\n")
    assert read_first_senses(file) == {
        ("fit", "ADJ"): "fit%5:00:00:able:00"
    }  # equal ranks: the first line


@pytest.mark.parametrize(
    ("read", "text", "problem"),
    [
        (read_keys, "a play%1:10:01::\nb\n", ":2: .*sense keys .* got 'b'"),
        (
            read_first_senses,
            "play 1 1 0\n",
            ":1: expected sense key, offset, rank and count",
        ),
    ],
)
def test_invalid_keys(
    tmp_path: Path, read: Callable[[Path], object], text: str, problem: str
) -> None:
    file = tmp_path / "x"
    file.write_text(text)
    with pytest.raises(InputError, match=f"{file}{problem}"):
        read(file)
