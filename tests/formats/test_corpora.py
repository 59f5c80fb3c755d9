"""
Files of corpora: their names in configs, in the official releases, and where they come
from.
"""

from pathlib import Path

import pytest

from elmo_tasks.formats.corpora import CORPORA, files_of, located, located_name

FILES = {
    "squad": "squad/train-v1.1.json squad/dev-v1.1.json",
    "snli": "snli/snli_1.0_train.jsonl snli/snli_1.0_dev.jsonl snli/snli_1.0_test.jsonl",
    "srl": "srl/train srl/development srl/test",
    "coref": "coref/train.gold_conll coref/dev.gold_conll coref/test.gold_conll",
    "ner": "ner/eng.train ner/eng.testa ner/eng.testb",
    "sst": "sst/train.txt sst/dev.txt sst/test.txt",
    "vectors": "vectors/glove.6B.50d.txt vectors/glove.6B.100d.txt"
    " vectors/glove.840B.300d.txt vectors/turian.50d.txt",
    "bilm": "bilm/options.json bilm/weights.hdf5",
    "cove": "cove/wmtlstm-8f474287.pth",
    "lm": "lm/train.*.txt* lm/heldout.*.txt* lm/vocab-2016-09-10.txt",
}
"""By task, as the configs name them."""


def test_names_of_the_configs() -> None:
    found = {task: " ".join(one.name for one in CORPORA[task]) for task in CORPORA}
    assert found == FILES


ONTONOTES = "conll-formatted-ontonotes-5.0"
BENCHMARK = "1-billion-word-language-modeling-benchmark-r13output"
TRAINING = "training-monolingual.tokenized.shuffled/news.en-000[0-9][0-9]-of-00100"
HELDOUT = "heldout-monolingual.tokenized.shuffled/news.en.heldout-000*-of-00050"
RELEASED = "elmo_2x4096_512_2048cnn_2xhighway"


def ontonotes(split: str, released: str) -> list[str]:
    names = []
    for parent in ("", "srl/", "coref/"):
        names.append(f"{parent}conll-2012/v4/data/{split}/data/english")
    for parent in ("", "srl/", "coref/"):
        for folder in (ONTONOTES, f"{ONTONOTES}-12/{ONTONOTES}"):
            names.append(f"{parent}{folder}/data/{released}/data/english")
    return names


OFFICIAL = {
    "squad/dev-v1.1.json": [],
    "snli/snli_1.0_dev.jsonl": [
        "snli/snli_1.0/snli_1.0_dev.jsonl",
        "snli_1.0/snli_1.0_dev.jsonl",
    ],
    "srl/train": ontonotes("train", "train"),
    "srl/development": ontonotes("development", "development"),
    "srl/test": ontonotes("test", "conll-2012-test"),
    "coref/train.gold_conll": [
        "coref/train.english.v4_gold_conll",
        *ontonotes("train", "train"),
    ],
    "coref/dev.gold_conll": [
        "coref/dev.english.v4_gold_conll",
        *ontonotes("development", "development"),
    ],
    "coref/test.gold_conll": [
        "coref/test.english.v4_gold_conll",
        *ontonotes("test", "conll-2012-test"),
    ],
    "ner/eng.testb": ["ner/eng.testb.txt", "conll2003/eng.testb"],
    "sst/test.txt": ["sst/trees/test.txt", "trees/test.txt"],
    "vectors/glove.6B.100d.txt": [
        "vectors/glove.6B/glove.6B.100d.txt",
        "glove.6B.100d.txt",
    ],
    "vectors/glove.840B.300d.txt": [
        "vectors/glove.840B.300d/glove.840B.300d.txt",
        "glove.840B.300d.txt",
    ],
    "vectors/turian.50d.txt": ["turian.50d.txt"],
    "bilm/options.json": [f"bilm/{RELEASED}_options.json"],
    "bilm/weights.hdf5": [f"bilm/{RELEASED}_weights.hdf5"],
    "lm/train.*.txt*": [
        f"lm/{TRAINING}",
        f"lm/{BENCHMARK}/{TRAINING}",
        f"{BENCHMARK}/{TRAINING}",
    ],
    "lm/heldout.*.txt*": [
        f"lm/{HELDOUT}",
        f"lm/{BENCHMARK}/{HELDOUT}",
        f"{BENCHMARK}/{HELDOUT}",
    ],
    "lm/vocab-2016-09-10.txt": ["vocab-2016-09-10.txt"],
}
"""The names of the releases, in the order in which they are looked for."""


def existing(pattern: str) -> str:
    """A name that fits a pattern."""
    return pattern.replace("[0-9]", "7").replace("*", "07")


@pytest.mark.parametrize("name", OFFICIAL)
def test_names_of_the_releases(name: str, tmp_path: Path) -> None:
    """
    Files appear in the reverse order, so that each is preferred to those before it.
    """
    (file,) = [
        one for of_task in CORPORA.values() for one in of_task if one.name == name
    ]
    assert located_name(tmp_path, file) is None
    assert located(tmp_path / name) == str(tmp_path / name)
    for official in reversed([name, *OFFICIAL[name]]):
        path = tmp_path / existing(official)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        assert located_name(tmp_path, file) == official
        assert located(tmp_path / name) == f"{tmp_path}/{official}"
    assert len(file.official) == len(OFFICIAL[name])


SOURCES = {
    "squad/train-v1.1.json": "https://rajpurkar.github.io/SQuAD-explorer/dataset/train-v1.1.json",
    "snli/snli_1.0_test.jsonl": "https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
    "sst/dev.txt": "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
    "vectors/glove.6B.50d.txt": "https://nlp.stanford.edu/data/glove.6B.zip",
    "vectors/glove.840B.300d.txt": "https://nlp.stanford.edu/data/glove.840B.300d.zip",
    "vectors/turian.50d.txt": "https://lil.cs.washington.edu/coref/turian.50d.txt",
    "bilm/options.json": "https://allennlp.s3.amazonaws.com/models/elmo/"
    f"2x4096_512_2048cnn_2xhighway/{RELEASED}_options.json",
    "lm/train.*.txt*": f"http://www.statmt.org/lm-benchmark/{BENCHMARK}.tar.gz",
    "lm/vocab-2016-09-10.txt": "https://allennlp.s3.amazonaws.com/models/elmo/vocab-2016-09-10.txt",
}


def test_sources() -> None:
    found = {one.name: one.source for of_task in CORPORA.values() for one in of_task}
    assert {name: found[name] for name in SOURCES} == SOURCES
    assert "LDC2013T19" in found["srl/train"] and "CoNLL-2003" in found["ner/eng.train"]


def test_other_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees/dev.txt").touch()
    for given, expected in (
        ("~/x", f"{tmp_path}/x"),
        ("~/sst/dev.txt", f"{tmp_path}/trees/dev.txt"),
        (f"{tmp_path}/asst/dev.txt", f"{tmp_path}/asst/dev.txt"),
        (f"{tmp_path}/sst/dev.txt.gz", f"{tmp_path}/sst/dev.txt.gz"),
        ("sst/dev.txt", "sst/dev.txt"),
        ("/sst/dev.txt", "/sst/dev.txt"),
        ("", ""),
    ):
        assert located(given) == expected


def test_files_of_a_name(tmp_path: Path) -> None:
    for name in ("b1", "a1", "c[1]", "d"):
        (tmp_path / name).touch()
    for name, expected in (
        ("?1", ["a1", "b1"]),
        ("[ab]*", ["a1", "b1"]),
        ("d", ["d"]),
        ("e", []),
        ("c[[]*", ["c[1]"]),
        (".", [""]),
    ):
        assert files_of(tmp_path, name) == [tmp_path / one for one in expected]
