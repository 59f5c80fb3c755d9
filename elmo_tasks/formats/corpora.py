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
class DataFile:
    """A file, folder or pattern below the data root."""

    name: str  # as the configs have it
    official: tuple[
        str, ...
    ]  # other names, where `name` does not exist; patterns as for `Path.glob`
    source: str  # a URL, or a text where it needs a licence or several steps


def conll2012(name: str, split: str) -> DataFile:
    """A split of CoNLL-2012, whose official names are those of the trees that the scripts of the shared task make."""
    short = {"train": "train", "development": "dev", "test": "test"}[split]
    folders = (
        "conll-2012",
        "srl/conll-2012",
        "coref/conll-2012",
        "conll-formatted-ontonotes-5.0",
    )
    official = tuple(f"{folder}/v4/data/{split}/data/english" for folder in folders)
    if name.startswith("coref"):
        official = (f"coref/{short}.english.v4_gold_conll", *official)
    source = "OntoNotes 5.0 (LDC2013T19, https://catalog.ldc.upenn.edu) and https://cemantix.org/conll/2012/data.html"
    return DataFile(name, official, source)


def _glove(name: str, archive: str) -> DataFile:
    official = (f"vectors/{archive}/{name}", name)
    return DataFile(f"vectors/{name}", official, f"{STANFORD}/data/{archive}.zip")


def _language_model(name: str, folder: str, pattern: str) -> DataFile:
    folder += "-monolingual.tokenized.shuffled"
    official = tuple(
        f"{parent}{folder}/{pattern}"
        for parent in ("lm/", f"lm/{_BENCHMARK}/", f"{_BENCHMARK}/")
    )
    return DataFile(
        name, official, f"http://www.statmt.org/lm-benchmark/{_BENCHMARK}.tar.gz"
    )


def _released(name: str) -> DataFile:
    official = f"{_RELEASED}_{name}"
    return DataFile(
        f"bilm/{name}",
        (f"bilm/{official}",),
        f"{ELMO_MODELS}/2x4096_512_2048cnn_2xhighway/{official}",
    )


_TURIAN, _WORDS = "turian.50d.txt", "vocab-2016-09-10.txt"
CORPORA: dict[str, tuple[DataFile, ...]] = {
    "vectors": (
        _glove("glove.6B.50d.txt", "glove.6B"),
        _glove("glove.6B.100d.txt", "glove.6B"),
        _glove("glove.840B.300d.txt", "glove.840B.300d"),
        DataFile(
            f"vectors/{_TURIAN}",
            (_TURIAN,),
            f"https://lil.cs.washington.edu/coref/{_TURIAN}",
        ),
    ),
    "bilm": (_released("options.json"), _released("weights.hdf5")),
    "lm": (
        _language_model(
            "lm/train.*.txt*", "training", "news.en-000[0-9][0-9]-of-00100"
        ),
        _language_model(
            "lm/heldout.*.txt*", "heldout", "news.en.heldout-000*-of-00050"
        ),
        DataFile(f"lm/{_WORDS}", (_WORDS,), f"{ELMO_MODELS}/{_WORDS}"),
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
    return next(
        (name for name in (file.name, *file.official) if files_of(root, name)), None
    )


def files_of(root: Path, name: str) -> list[Path]:
    """The files below `root` that fit `name`, a path or a pattern, sorted."""
    return (
        sorted(root.glob(name))
        if re.search(r"[*?\[]", name)
        else [root / name] * (root / name).exists()
    )
