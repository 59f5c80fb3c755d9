"""
The files that scale `paper` reads, of all tasks, under the names of the configs and
under those of the official releases: `located` lets a reader open a release as it was
unpacked.
"""

import os
import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from elmo_tasks.system.run_names import OPTIONS_FILE, WEIGHT_FILE

_COVE = "wmtlstm-8f474287.pth"
_BENCHMARK = "1-billion-word-language-modeling-benchmark-r13output"
_RELEASED = "elmo_2x4096_512_2048cnn_2xhighway"
_ONTONOTES = "conll-formatted-ontonotes-5.0"


@dataclass(frozen=True)
class DataFile:
    """A file, folder or pattern below the data root."""

    name: str
    """As the configs have it."""

    official: tuple[str, ...]
    """Other names, where `name` does not exist; patterns as for `Path.glob`."""


def _conll2012(name: str, split: str) -> DataFile:
    """
    A split of CoNLL-2012. Its official names are those of the tree that the scripts of
    the shared task make, and of the public release for OntoNotes 5.0 (Pradhan et al.
    2013), whose folder `test` is another test set than CoNLL-2012's. He et al. (2017)
    read that.
    """
    short = {"train": "train", "development": "dev", "test": "test"}[split]
    official = []
    for parent in ("", "srl/", "coref/"):
        official.append(f"{parent}conll-2012/v4/data/{split}/data/english")
    released = split
    if split == "test":
        released = "conll-2012-test"
    for parent in ("", "srl/", "coref/"):
        for folder in (_ONTONOTES, f"{_ONTONOTES}-12/{_ONTONOTES}"):
            official.append(f"{parent}{folder}/data/{released}/data/english")
    if name.startswith("coref"):
        official.insert(0, f"coref/{short}.english.v4_gold_conll")
    return DataFile(name, tuple(official))


def _snli(split: str) -> DataFile:
    name = f"snli_1.0_{split}.jsonl"
    official = (f"snli/snli_1.0/{name}", f"snli_1.0/{name}")
    return DataFile(f"snli/{name}", official)


def _sst(split: str) -> DataFile:
    official = (f"sst/trees/{split}.txt", f"trees/{split}.txt")
    return DataFile(f"sst/{split}.txt", official)


def _ner(name: str) -> DataFile:
    return DataFile(f"ner/{name}", (f"ner/{name}.txt", f"conll2003/{name}"))


def _glove(name: str, archive: str) -> DataFile:
    return DataFile(f"vectors/{name}", (f"vectors/{archive}/{name}", name))


def _language_model(name: str, folder: str, pattern: str) -> DataFile:
    folder += "-monolingual.tokenized.shuffled"
    parents = ("lm/", f"lm/{_BENCHMARK}/", f"{_BENCHMARK}/")
    official = [f"{parent}{folder}/{pattern}" for parent in parents]
    return DataFile(name, tuple(official))


def _released(name: str) -> DataFile:
    return DataFile(f"bilm/{name}", (f"bilm/{_RELEASED}_{name}",))


_TURIAN, _WORDS = "turian.50d.txt", "vocab-2016-09-10.txt"
CORPORA: dict[str, tuple[DataFile, ...]] = {
    "snli": (_snli("train"), _snli("dev"), _snli("test")),
    "srl": (
        _conll2012("srl/train", "train"),
        _conll2012("srl/development", "development"),
        _conll2012("srl/test", "test"),
    ),
    "coref": (
        _conll2012("coref/train.gold_conll", "train"),
        _conll2012("coref/dev.gold_conll", "development"),
        _conll2012("coref/test.gold_conll", "test"),
    ),
    "ner": (_ner("eng.train"), _ner("eng.testa"), _ner("eng.testb")),
    "sst": (_sst("train"), _sst("dev"), _sst("test")),
    "vectors": (
        _glove("glove.6B.50d.txt", "glove.6B"),
        _glove("glove.6B.100d.txt", "glove.6B"),
        _glove("glove.840B.300d.txt", "glove.840B.300d"),
        DataFile(f"vectors/{_TURIAN}", (_TURIAN,)),
    ),
    "bilm": (_released(OPTIONS_FILE), _released(WEIGHT_FILE)),
    "cove": (DataFile(f"cove/{_COVE}", (_COVE,)),),
    "lm": (
        _language_model(
            "lm/train.*.txt*", "training", "news.en-000[0-9][0-9]-of-00100"
        ),
        _language_model(
            "lm/heldout.*.txt*", "heldout", "news.en.heldout-000*-of-00050"
        ),
        DataFile(f"lm/{_WORDS}", (_WORDS,)),
    ),
}
"""
By task: train, dev and test; and the files of the word vectors, of the released biLM
and of its training text, and of CoVe. SQuAD's have no other names.
"""


def located(path: str | Path) -> str:
    """
    The path of a file, with `~` expanded. If nothing is there and the path is that of a
    corpus file below a data root, the path under the file's official name, if that
    exists. Patterns are returned unchanged.
    """
    given = os.path.expanduser(path)
    for file in chain.from_iterable(CORPORA.values()):
        root = given.removesuffix(f"/{file.name}")
        if root == given:
            continue
        for name in (file.name, *file.official):
            if files_of(Path(root), name):
                return f"{root}/{name}"
    return given


def files_of(root: Path, name: str) -> list[Path]:
    """The files below `root` that fit `name`, a path or a pattern, sorted."""
    if re.search(r"[*?\[]", name):
        return sorted(root.glob(name))
    path = root / name
    if path.exists():
        return [path]
    return []
