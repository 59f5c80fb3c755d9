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


def _conll2012(split: str) -> tuple[str, ...]:
    tree = f"v4/data/{split}/data/english"
    short = {"train": "train", "development": "dev", "test": "test"}[split]
    folders = ("conll-2012", "srl/conll-2012", "coref/conll-2012", "conll-formatted-ontonotes-5.0")
    file = f"coref/{short}.english.v4_gold_conll"
    return (file, *(f"{folder}/{tree}" for folder in folders))


def _ontonotes(name: str, split: str, unit: str, count: int) -> DataFile:
    official = _conll2012(split)
    source = "OntoNotes 5.0 (LDC2013T19, https://catalog.ldc.upenn.edu) and https://cemantix.org/conll/2012/data.html"
    return DataFile(name, official if name.startswith("coref") else official[1:], unit, count, source)


def _snli(split: str, count: int) -> DataFile:
    name = f"snli_1.0_{split}.jsonl"
    archive = Download(
        f"{STANFORD}/projects/snli/snli_1.0.zip",
        94_550_081,
        "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
    )
    return DataFile(f"snli/{name}", (f"snli/snli_1.0/{name}", f"snli_1.0/{name}"), "pairs", count, archive)


def _sst(split: str, count: int) -> DataFile:
    archive = Download(
        f"{STANFORD}/sentiment/trainDevTestTrees_PTB.zip",
        789_539,
        "5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
    )
    return DataFile(f"sst/{split}.txt", (f"sst/trees/{split}.txt", f"trees/{split}.txt"), "trees", count, archive)


def _squad(split: str, count: int, size: int, sha256: str) -> DataFile:
    name = f"{split}-v1.1.json"
    source = Download(f"https://rajpurkar.github.io/SQuAD-explorer/dataset/{name}", size, sha256)
    return DataFile(f"squad/{name}", (), "questions", count, source)


def _ner(name: str, count: int) -> DataFile:
    source = (
        "CoNLL-2003 (https://www.clips.uantwerpen.be/conll2003/ner/) with RCV1 from https://trec.nist.gov/data/reuters"
    )
    return DataFile(f"ner/{name}", (f"ner/{name}.txt", f"conll2003/{name}"), "sentences", count, source)


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
    "squad": (
        _squad("train", 87_599, 30_288_272, "3527663986b8295af4f7fcdff1ba1ff3f72d07d61a20f487cb238a6ef92fd955"),
        _squad("dev", 10_570, 4_854_279, "95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9"),
    ),
    "snli": (_snli("train", 549_367), _snli("dev", 9_842), _snli("test", 9_824)),
    "srl": (
        _ontonotes("srl/train", "train", "sentences", 75_187),
        _ontonotes("srl/development", "development", "sentences", 9_603),
        _ontonotes("srl/test", "test", "sentences", 9_479),
    ),
    "coref": (
        _ontonotes("coref/train.gold_conll", "train", "documents", 2_802),
        _ontonotes("coref/dev.gold_conll", "development", "documents", 343),
        _ontonotes("coref/test.gold_conll", "test", "documents", 348),
    ),
    "ner": (_ner("eng.train", 14_041), _ner("eng.testa", 3_250), _ner("eng.testb", 3_453)),
    "sst": (_sst("train", 8_544), _sst("dev", 1_101), _sst("test", 2_210)),
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
"""The files of each task, of the word vectors, of the released biLM and of its training text."""


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
