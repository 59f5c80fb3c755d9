"""Probes compute layers on a GPU, and get the CPU's results."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.sources.types import SourceSettings
from elmo_tasks.experiments.probes.neighbors import (
    index_corpus,
    nearest_occurrences,
    occurrence_in_corpus,
)
from elmo_tasks.experiments.probes.pos import probe_pos
from elmo_tasks.experiments.probes.wsd import probe_senses
from tests.probes.samples import INDEX_SENSE, write_wsd
from tests.probes.test_pos import conllu
from tests.tiny import bilm_files


@pytest.fixture
def encoders(tmp_path: Path, gpu: torch.device) -> list[Layers]:
    """On the CPU and on the GPU."""
    chosen = SourceSettings(**bilm_files(tmp_path / "bilm"))
    devices = torch.device("cpu"), gpu
    return [Layers.open(chosen).to(device) for device in devices]


def assert_same(encoders: list[Layers], run: Callable[[Any], Any]) -> None:
    on_cpu, on_gpu = encoders
    assert run(on_cpu) == run(on_gpu)


def test_parts_of_speech(encoders: list[Layers], tmp_path: Path) -> None:
    lines = {
        "train": ["the/D old/A ferry/N left/V", "a/D boat/N sank/V"],
        "test": ["a/D ferry/N sank/V"],
    }
    for name, own in lines.items():
        (tmp_path / name).write_text("\n".join(map(conllu, own)))

    def run(encoder: Layers) -> Any:
        return probe_pos(encoder, tmp_path / "train", tmp_path / "test").rows

    assert_same(encoders, run)


def test_senses(encoders: list[Layers], tmp_path: Path) -> None:
    sentences = ("the play%1:10:01:: ended", "children play%2:33:00:: here")
    train = write_wsd(tmp_path / "train.data.xml", *sentences)
    test = write_wsd(tmp_path / "test.data.xml", "we play%2:33:00:: now")

    def run(encoder: Layers) -> Any:
        return probe_senses(encoder, train, [test], INDEX_SENSE)

    assert_same(encoders, run)


def test_neighbours(encoders: list[Layers]) -> None:
    text = [["the", "play", "ended"], ["they", "play"], ["a", "new", "play", "."]]

    def run(encoder: Layers) -> Any:
        index = index_corpus(text, encoder)
        query = occurrence_in_corpus(index, "play", 1)
        near = nearest_occurrences(index, "play", query, top=2)
        return [(one.words, round(one.cosine or 0, 3)) for one in near]

    assert_same(encoders, run)
