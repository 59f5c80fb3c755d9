"""
The files that scale `paper` reads, under the names of the configs and under those of the official releases.

`located` lets a reader open a release as it was unpacked; `elmo-tasks data` reports what is there.
"""

import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

STANFORD = "https://nlp.stanford.edu"
ELMO_MODELS = "https://allennlp.s3.amazonaws.com/models/elmo"
_BENCHMARK = "1-billion-word-language-modeling-benchmark-r13output"
_RELEASED = "elmo_2x4096_512_2048cnn_2xhighway"


@dataclass(frozen=True)
class Download:
    """A file on the web, with its bytes and checksum where they are known."""

    url: str
    size: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class DataFile:
    """A file, folder or pattern below the data root."""

    name: str
    """As the configs have it."""
    official: tuple[str, ...]
    """Other names that are accepted where `name` does not exist; patterns as for `Path.glob`."""
    unit: str
    """`questions`, `pairs`, `trees`, `sentences`, `documents`, `files`, `lines` or `bytes`."""
    count: int | None
    """How many units the official release has."""
    source: Download | str
    """A text where it needs a licence or several steps."""
    optional: bool = False
    """Whether the configs do without it."""


def conll2012(name: str, split: str, unit: str, count: int) -> DataFile:
    """A split of CoNLL-2012, whose official names are those of the trees that the scripts of the shared task make."""
    short = {"train": "train", "development": "dev", "test": "test"}[split]
    folders = ("conll-2012", "srl/conll-2012", "coref/conll-2012", "conll-formatted-ontonotes-5.0")
    official = tuple(f"{folder}/v4/data/{split}/data/english" for folder in folders)
    if name.startswith("coref"):
        official = (f"coref/{short}.english.v4_gold_conll", *official)
    source = "OntoNotes 5.0 (LDC2013T19, https://catalog.ldc.upenn.edu) and https://cemantix.org/conll/2012/data.html"
    return DataFile(name, official, unit, count, source)


def _glove(name: str, size: int, archive: str, archive_size: int) -> DataFile:
    source = Download(f"{STANFORD}/data/{archive}", archive_size)
    return DataFile(f"vectors/{name}", (f"vectors/{archive[:-4]}/{name}", name), "bytes", size, source)


def _language_model(name: str, folder: str, pattern: str, count: int) -> DataFile:
    archive = Download(
        f"http://www.statmt.org/lm-benchmark/{_BENCHMARK}.tar.gz",
        1_792_209_805,
        "01ba60381110baf7f189dfd2b8374de371e8c9a340835793f190bdae9e90a34e",
    )
    folder += "-monolingual.tokenized.shuffled"
    official = tuple(f"{parent}{folder}/{pattern}" for parent in ("lm/", f"lm/{_BENCHMARK}/", f"{_BENCHMARK}/"))
    return DataFile(name, official, "files", count, archive)


def _released(name: str, unit: str, count: int, size: int) -> DataFile:
    official = f"{_RELEASED}_{name}"
    source = Download(f"{ELMO_MODELS}/2x4096_512_2048cnn_2xhighway/{official}", size)
    return DataFile(f"bilm/{name}", (f"bilm/{official}",), unit, count, source)


CORPORA: dict[str, tuple[DataFile, ...]] = {
    "vectors": (
        _glove("glove.6B.50d.txt", 171_350_079, "glove.6B.zip", 862_182_613),
        _glove("glove.6B.100d.txt", 347_116_733, "glove.6B.zip", 862_182_613),
        _glove("glove.840B.300d.txt", 5_646_236_541, "glove.840B.300d.zip", 2_176_768_927),
        DataFile(
            "vectors/turian.50d.txt",
            ("turian.50d.txt",),
            "lines",
            None,
            "https://lil.cs.washington.edu/coref/turian.50d.txt",
        ),
    ),
    "bilm": (
        _released("options.json", "bytes", 336, 336),
        _released("weights.hdf5", "bytes", 374_434_792, 374_434_792),
        DataFile(
            "bilm/softmax.hdf5", (), "bytes", None, "`elmo-tasks bilm import-softmax`, see docs/PRETRAIN.md", True
        ),
    ),
    "lm": (
        _language_model("lm/train.*.txt*", "training", "news.en-000[0-9][0-9]-of-00100", 99),
        _language_model("lm/heldout.*.txt*", "heldout", "news.en.heldout-000*-of-00050", 50),
        DataFile(
            "lm/vocab-2016-09-10.txt",
            ("vocab-2016-09-10.txt",),
            "lines",
            793_471,
            Download(f"{ELMO_MODELS}/vocab-2016-09-10.txt"),
        ),
    ),
}
"""The files of the word vectors, of the released biLM and of its training text; `elmo_tasks.tasks` adds its own."""


def located(path: str | Path) -> str:
    """
    The path; if nothing is there, and it is that of a corpus file below some data root, the official name under which
    the file exists there. A pattern stays a pattern.
    """
    given = str(path)
    for file in chain.from_iterable(CORPORA.values()):
        root = given.removesuffix(f"/{file.name}")
        if root != given and (found := located_name(Path(root), file)) is not None:
            return f"{root}/{found}"
    return given


def located_name(root: Path, file: DataFile) -> str | None:
    """The first name of the file that exists below `root`: that of the configs, else an official one."""
    return next((name for name in (file.name, *file.official) if files_of(root, name)), None)


def files_of(root: Path, name: str) -> list[Path]:
    """The files below `root` that fit `name`, a path or a pattern, sorted."""
    return sorted(root.glob(name)) if re.search(r"[*?\[]", name) else [root / name] * (root / name).exists()
