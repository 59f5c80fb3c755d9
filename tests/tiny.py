"""Small random parts that tests of several rooms build models from."""

import gzip
from pathlib import Path

import numpy
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary

from elmo_tasks.elmo import BiLm, BiLmOptions
from elmo_tasks.elmo.embedder import ElmoTokenEmbedder

ELMO_DIM = 10
"""Width of an ELMo vector of `bilm_files`."""


def bilm_files(folder: Path) -> dict[str, str]:
    """Writes a random biLM in the official format; the two keys that name its files in a config."""
    generator = torch.random.get_rng_state()
    torch.manual_seed(7)
    options = BiLmOptions(filters=((1, 4), (2, 4)), character_dim=3, n_highway=1, dim=7, projection_dim=ELMO_DIM // 2)
    files = {"options_file": str(folder / "options.json"), "weight_file": str(folder / "weights.hdf5")}
    BiLm(options).save_files(files["options_file"], files["weight_file"])
    torch.random.set_rng_state(generator)
    return files


def elmo(folder: Path, **keys: object) -> ElmoTokenEmbedder:
    """An `elmo` as a config makes it."""
    return ElmoTokenEmbedder.from_params(Params({**bilm_files(folder), **keys}), vocab=Vocabulary())


def write_vectors(file: Path, words: list[str], *, width: int) -> Path:
    """Writes random vectors of these words, gzip where the name says so."""
    generator = numpy.random.default_rng(3)
    lines = (" ".join([word, *(f"{value:.4f}" for value in generator.normal(size=width))]) for word in words)
    text = "".join(f"{line}\n" for line in lines)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    return file
