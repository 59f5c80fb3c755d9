"""
Vectors of proteins with a biLM of SeqVec's shape and random weights: those of
AllenNLP's `Elmo`, by windows if a protein is long, under the names of the proteins.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from allennlp.modules.elmo import Elmo as AllenNLPElmo
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.bilm import BiLM, BiLMOptions
from elmo_tasks.elmo import Elmo, ElmoVectors
from elmo_tasks.elmo.windows import windows
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fasta import read_proteins
from tests.elmo.samples import write_bilm
from tests.test_flow import elmo_tasks

elmo = partial(elmo_tasks, "elmo")

SEQUENCES = {
    "sp|P1|A": "SEQWENCE",
    "P2": "MKUOBZXJVLA",
    "P3": "M",
    "P4": "ACDEFGHIK" * 4,
}

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
def bilm(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "bilm").mkdir()
    return write_bilm(tmp_path / "bilm")


@pytest.fixture
def fasta(tmp_path: Path) -> Path:
    file = tmp_path / "proteins.fasta"
    lines = []
    for name, sequence in SEQUENCES.items():
        lines.append(f">{name} a protein\n{sequence[:5].lower()}\n{sequence[5:]}\n")
    file.write_text("".join(lines))
    return file


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


def test_the_vectors_of_allennlp(
    bilm: tuple[str, str], fasta: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.hdf5"
    model = ("--model", "+".join(bilm))
    elmo(fasta, out, "--input-format", "fasta", *model)
    expected = of_allennlp(bilm, list(SEQUENCES.values()))
    with ElmoVectors(out) as vectors:
        assert vectors.info["tokenizer"] == "residues 1"
        for place, (name, sequence) in enumerate(SEQUENCES.items()):
            assert vectors.sentence(place) == name
            assert vectors.tokens(place) == list(sequence)
            np.testing.assert_allclose(vectors[place], expected[place], atol=1e-5)
    with h5py.File(out) as hdf5:
        places = json.loads(hdf5["sentence_to_index"][0])
    assert list(places) == list(SEQUENCES)
    opened = Elmo.from_files(*bilm, device="cpu")
    proteins = [protein for _, protein in read_proteins(fasta)]
    means = opened.embed_sentences(
        [protein.residues for protein in proteins], pooling="mean"
    )
    for mean, layers in zip(means, expected, strict=True):
        np.testing.assert_allclose(mean, layers.mean(0).mean(0), atol=1e-5)


def test_a_vector_per_protein(
    bilm: tuple[str, str], fasta: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.hdf5"
    options = ("--input-format", "fasta", "--model", "+".join(bilm))
    elmo(fasta, out, *options, "--average", "--pooling", "mean")
    expected = of_allennlp(bilm, list(SEQUENCES.values()))
    with ElmoVectors(out) as vectors:
        names = [vectors.sentence(place) for place in range(len(vectors))]
        means = np.stack(list(vectors))
    assert names == list(SEQUENCES)
    for mean, layers in zip(means, expected, strict=True):
        np.testing.assert_allclose(mean, layers.mean(0).mean(0), atol=1e-5)
    with pytest.raises(InputError, match="--pooling cannot be combined with --shards"):
        elmo(fasta, tmp_path / "out", *options, "--pooling", "mean", "--shards", 2)


def test_long_proteins(bilm: tuple[str, str], fasta: Path, tmp_path: Path) -> None:
    """Each residue's vector is from the window in which it has most context."""
    out = tmp_path / "out.hdf5"
    sizes = ("--max-length", 12, "--overlap", 4)
    model = ("--model", "+".join(bilm))
    elmo(fasta, out, "--input-format", "fasta", *sizes, *model)
    sequence = SEQUENCES["P4"]
    with ElmoVectors(out) as vectors:
        found = vectors[3]
    for window in windows(len(sequence), limit=12, overlap=4):
        (expected,) = of_allennlp(bilm, [sequence[window.start : window.end]])
        own = slice(window.first - window.start, window.last - window.start)
        np.testing.assert_allclose(
            found[:, window.first : window.last], expected[:, own], atol=1e-5
        )


def test_shards_of_proteins(bilm: tuple[str, str], fasta: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    options = ("--input-format", "fasta", "--model", "+".join(bilm))
    elmo(fasta, tmp_path / "out.hdf5", *options)
    elmo(fasta, tmp_path / "out", *options, "--shards", 3)
    elmo(fasta, tmp_path / "out", *options, "--shards", 3)  # resumes
    with (
        ElmoVectors(tmp_path / "out.hdf5") as whole,
        ElmoVectors(tmp_path / "out") as shards,
    ):
        for place, name in enumerate(SEQUENCES):
            assert shards.sentence(place) == whole.sentence(place) == name
            assert shards.tokens(place) == whole.tokens(place)
            np.testing.assert_allclose(shards[place], whole[place], atol=1e-5)


def test_vectors_of_residues(
    bilm: tuple[str, str], fasta: Path, tmp_path: Path
) -> None:
    """`elmo-tasks static`: one vector for each amino acid."""
    out = tmp_path / "out.txt"
    options = ("--input-format", "fasta", "--min-count", 1)
    elmo_tasks("static", fasta, "-o", out, *options, "--model", "+".join(bilm))
    words = [line.split()[0] for line in out.read_text().splitlines()[1:]]
    assert sorted(words) == sorted(set("".join(SEQUENCES.values())))


def test_damaged_proteins(bilm: tuple[str, str], tmp_path: Path) -> None:
    """Nothing is written."""
    file = tmp_path / "damaged.fasta"
    file.write_text(">P1\nMK\n>P1\nMK\n")
    options = ("--input-format", "fasta", "--model", "+".join(bilm))
    for more in ((), ("--shards", 2)):
        with pytest.raises(InputError, match=f"^{file}:3: the name 'P1' is already"):
            elmo(file, tmp_path / "out", *options, *more)
        assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="--tokenizer: expected none with"):
        elmo(file, tmp_path / "out", *options, "--tokenizer", "basic")


@pytest.mark.slow
def test_the_widths_of_seqvec(fasta: Path, tmp_path: Path) -> None:
    torch.manual_seed(1)
    files = str(tmp_path / "options.json"), str(tmp_path / "weights.hdf5")
    BiLM(BiLMOptions(**SEQVEC)).save_files(*files)
    opened = Elmo.from_files(*files, device="cpu")
    assert (opened.dimension, opened.n_layers) == (1024, 3)
    proteins = [protein for _, protein in read_proteins(fasta)]
    found = opened.embed([protein.residues for protein in proteins])
    expected = of_allennlp(files, list(SEQUENCES.values()))
    for ours, theirs in zip(found, expected, strict=True):
        assert np.abs(theirs[2]).max() > 1e-3
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
