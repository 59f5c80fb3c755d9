"""
Vectors of proteins: the recipe of docs/PROTEINS.md, a biLM of SeqVec's sizes, and what
the commands say about FASTA.
"""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from allennlp.modules.elmo import Elmo as AllenNLPElmo
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.bilm import BiLM, BiLMOptions
from elmo_tasks.elmo import Elmo, ElmoVectors
from tests.docs.test_examples import blocks_of
from tests.test_flow import elmo_tasks
from tests.tiny import ROOT

FASTA = """>sp|P1|A a protein
SEQWE
NCE
>P2
mkuobzxjvla*

>P3 another
M
"""
SEQUENCES = {"sp|P1|A": "SEQWENCE", "P2": "MKUOBZXJVLA", "P3": "M"}

SEQVEC: dict[str, Any] = {
    "filters": (
        (1, 32),
        (2, 32),
        (3, 64),
        (4, 128),
        (5, 256),
        (6, 512),
        (7, 1024),
    ),
    "character_dim": 16,
    "n_highway": 2,
    "dim": 4096,
    "projection_dim": 512,
    "n_layers": 2,
    "cell_clip": 3.0,
    "proj_clip": 3.0,
}
"""The sizes of SeqVec, which are those of the paper's biLM: layers of 1,024 values."""


@pytest.fixture
def recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The blocks of Python that PROTEINS runs, in files of the current folder."""
    monkeypatch.chdir(tmp_path)
    files = []
    for block in blocks_of(ROOT / "docs" / "PROTEINS.md"):
        if block.info == "python":
            files.append(tmp_path / f"{block.line}.py")
            files[-1].write_text(block.text)
    return files


def test_the_recipe(recipes: list[Path]) -> None:
    Path("proteins.fasta").write_text(FASTA)
    done = runpy.run_path(str(recipes[0]))
    assert done["sequences"] == SEQUENCES
    lists = [list(sequence) for sequence in SEQUENCES.values()]
    expected = Elmo.from_pretrained().embed(lists)
    for found, layers in zip(done["vectors"], expected, strict=True):
        np.testing.assert_allclose(found, layers, atol=1e-5)


def test_the_recipe_of_a_file(recipes: list[Path]) -> None:
    written = runpy.run_path(str(recipes[1]))
    options = ("--column", "tokens", "--average", "--pooling", "mean")
    elmo_tasks("elmo", "proteins.jsonl", "means.hdf5", *options)
    with ElmoVectors("means.hdf5") as vectors:
        means = list(vectors)
    lists = [list(sequence) for sequence in written["sequences"].values()]
    np.testing.assert_allclose(means, Elmo.from_pretrained().encode(lists), atol=1e-5)


@torch.no_grad()
def of_allennlp(files: tuple[str, str], sequences: list[str]) -> list[np.ndarray]:
    """
    The layers of each sequence [3, T, D] by AllenNLP's `Elmo`, whose three mixes take
    one layer each.
    """
    theirs = AllenNLPElmo(*files, 3, dropout=0.0).eval()
    for layer, mix in enumerate(theirs._scalar_mixes):
        for place, weight in enumerate(mix.scalar_parameters):
            weight.fill_(0.0 if place == layer else -1e4)
    found = []
    for sequence in sequences:
        theirs._elmo_lstm._elmo_lstm.reset_states()
        layers = theirs(batch_to_ids([list(sequence)]))["elmo_representations"]
        found.append(torch.stack([layer[0] for layer in layers]).numpy())
    return found


@pytest.mark.slow
def test_the_widths_of_seqvec(tmp_path: Path) -> None:
    torch.manual_seed(1)
    files = str(tmp_path / "options.json"), str(tmp_path / "weights.hdf5")
    BiLM(BiLMOptions(**SEQVEC)).save_files(*files)
    opened = Elmo.from_files(*files, device="cpu")
    assert (opened.dimension, opened.n_layers) == (1024, 3)
    found = opened.embed([list(sequence) for sequence in SEQUENCES.values()])
    expected = of_allennlp(files, list(SEQUENCES.values()))
    for ours, theirs in zip(found, expected, strict=True):
        assert np.abs(theirs[2]).max() > 1e-3
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
