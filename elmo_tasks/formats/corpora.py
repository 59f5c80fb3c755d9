"""
The files that scale `paper` reads, of all tasks, under the names of the configs and
under those of the official releases.

`located` lets a reader open a release as it was unpacked; `elmo-tasks data` reports
what is there.
"""

import os
import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from elmo_tasks.system.run_names import OPTIONS_FILE, WEIGHT_FILE

STANFORD = "https://nlp.stanford.edu"
ELMO_MODELS = "https://allennlp.s3.amazonaws.com/models/elmo"
_COVE_FROM = "https://s3.amazonaws.com/research.metamind.io/cove"
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

    source: str
    """A URL, or a text where it needs a licence or several steps."""


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
    source = "OntoNotes 5.0 (LDC2013T19, https://catalog.ldc.upenn.edu) and https://cemantix.org/conll/2012/data.html"
    return DataFile(name, tuple(official), source)


def _squad(split: str) -> DataFile:
    name = f"{split}-v1.1.json"
    return DataFile(
        f"squad/{name}",
        (),
        f"https://rajpurkar.github.io/SQuAD-explorer/dataset/{name}",
    )


def _snli(split: str) -> DataFile:
    name = f"snli_1.0_{split}.jsonl"
    official = (f"snli/snli_1.0/{name}", f"snli_1.0/{name}")
    return DataFile(f"snli/{name}", official, f"{STANFORD}/projects/snli/snli_1.0.zip")


def _sst(split: str) -> DataFile:
    archive = f"{STANFORD}/sentiment/trainDevTestTrees_PTB.zip"
    return DataFile(
        f"sst/{split}.txt", (f"sst/trees/{split}.txt", f"trees/{split}.txt"), archive
    )


def _ner(name: str) -> DataFile:
    source = "CoNLL-2003 (https://www.clips.uantwerpen.be/conll2003/ner/) with RCV1 from https://trec.nist.gov/data/reuters"
    return DataFile(f"ner/{name}", (f"ner/{name}.txt", f"conll2003/{name}"), source)


def _glove(name: str, archive: str) -> DataFile:
    official = (f"vectors/{archive}/{name}", name)
    return DataFile(f"vectors/{name}", official, f"{STANFORD}/data/{archive}.zip")


def _language_model(name: str, folder: str, pattern: str) -> DataFile:
    folder += "-monolingual.tokenized.shuffled"
    parents = ("lm/", f"lm/{_BENCHMARK}/", f"{_BENCHMARK}/")
    official = [f"{parent}{folder}/{pattern}" for parent in parents]
    source = f"http://www.statmt.org/lm-benchmark/{_BENCHMARK}.tar.gz"
    return DataFile(name, tuple(official), source)


def _released(name: str) -> DataFile:
    official = f"{_RELEASED}_{name}"
    return DataFile(
        f"bilm/{name}",
        (f"bilm/{official}",),
        f"{ELMO_MODELS}/2x4096_512_2048cnn_2xhighway/{official}",
    )


_TURIAN, _WORDS = "turian.50d.txt", "vocab-2016-09-10.txt"
CORPORA: dict[str, tuple[DataFile, ...]] = {
    "squad": (_squad("train"), _squad("dev")),
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
        DataFile(
            f"vectors/{_TURIAN}",
            (_TURIAN,),
            f"https://lil.cs.washington.edu/coref/{_TURIAN}",
        ),
    ),
    "bilm": (_released(OPTIONS_FILE), _released(WEIGHT_FILE)),
    "cove": (DataFile(f"cove/{_COVE}", (_COVE,), f"{_COVE_FROM}/{_COVE}"),),
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
"""
By task: train, dev and, if it is public, test; and the files of the word vectors, of
the released biLM and of its training text, and of CoVe.
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
        found = located_name(Path(root), file)
        if found is not None:
            return f"{root}/{found}"
    return given


def located_name(root: Path, file: DataFile) -> str | None:
    """
    The first name of the file that exists below `root`: that of the configs, else an
    official one.
    """
    for name in (file.name,) + file.official:
        if files_of(root, name):
            return name
    return None


def files_of(root: Path, name: str) -> list[Path]:
    """The files below `root` that fit `name`, a path or a pattern, sorted."""
    if re.search(r"[*?\[]", name):
        return sorted(root.glob(name))
    path = root / name
    if path.exists():
        return [path]
    return []
