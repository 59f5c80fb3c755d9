"""Small random parts, and a data root of them, that tests of several rooms build models from."""

import gzip
import shutil
from pathlib import Path

import numpy
from allennlp.common import Params
from allennlp.data import Vocabulary

from elmo_tasks.elmo.embedder import ElmoTokenEmbedder
from tests.elmo.samples import options, write_bilm
from tests.pretrain import toy

ELMO_DIM = 2 * options().projection_dim
"""Width of an ELMo vector of `bilm_files`."""

NER_FILE = Path(__file__).resolve().parents[1] / "fixtures" / "ner" / "eng.bio"


def bilm_files(folder: Path) -> dict[str, str]:
    """Writes a random biLM in the official format; the two keys that name its files in a config."""
    folder.mkdir(parents=True, exist_ok=True)
    return dict(zip(("options_file", "weight_file"), write_bilm(folder), strict=True))


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


def write_data_root(root: Path) -> Path:
    """The official file names that configs ask for, at any scale, with a few sentences behind each."""
    toy.write_corpus(root)
    words = "".join(f"{word}\n" for word in ["<S>", "</S>", "<UNK>", "the", "cook", "bakes", "."])
    (root / "lm" / "vocab-2016-09-10.txt").write_text(words)
    (root / "ner").mkdir()
    for name in ("eng.train", "eng.testa"):
        shutil.copy(NER_FILE, root / "ner" / name)
    for name in ("w2v.100d.txt.gz", "glove.6B.100d.txt"):
        write_vectors(root / "vectors" / name, ["the", "left", "Harrow", "ferry", "mira"], width=100)
    bilm_files(root / "bilm")
    return root
