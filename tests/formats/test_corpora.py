"""Files of corpora: their names in configs, and in the official releases."""

from pathlib import Path

import pytest

from elmo_tasks.formats.corpora import files_of, located

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
    "srl/test": ontonotes("test", "conll-2012-test"),
    "coref/dev.gold_conll": [
        "coref/dev.english.v4_gold_conll",
        *ontonotes("development", "development"),
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
    assert located(tmp_path / name) == str(tmp_path / name)
    for official in reversed([name, *OFFICIAL[name]]):
        path = tmp_path / existing(official)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        assert located(tmp_path / name) == f"{tmp_path}/{official}"


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
