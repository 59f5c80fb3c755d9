"""`elmo-tasks data`: what is there, official names."""

import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from elmo_tasks import resources
from elmo_tasks.cli import data
from elmo_tasks.cli.check import check_config
from elmo_tasks.formats.annotation.ontonotes import read_documents
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.text.text_files import open_text
from tests.tiny import FIXTURES, SAMPLES

ONTONOTES = "conll-formatted-ontonotes-5.0/data"


def _touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def test_releases_are_found_under_their_own_names(tmp_path: Path) -> None:
    _touch(
        tmp_path,
        "conll-2012/v4/data/train/data/english/annotations/nw/a.v4_gold_conll",
        "conll-2012/v4/data/train/data/arabic/annotations/nw/b.v4_gold_conll",
        "coref/dev.english.v4_gold_conll",
        "snli/snli_1.0/snli_1.0_dev.jsonl",
        "sst/dev.txt",
        "sst/trees/dev.txt",
        "lm/training-monolingual.tokenized.shuffled/news.en-00001-of-00100",
        "bilm/elmo_2x4096_512_2048cnn_2xhighway_options.json",
        "vectors/turian.50d.txt",
    )
    for split in ("development", "test", "conll-2012-test"):
        folder = f"{ONTONOTES}/{split}/data/english/annotations/nw/wsj/00"
        _touch(tmp_path, f"{folder}/a.gold_conll")
    for name, official in {
        "srl/train": "conll-2012/v4/data/train/data/english",
        "coref/train.gold_conll": "conll-2012/v4/data/train/data/english",
        "coref/dev.gold_conll": "coref/dev.english.v4_gold_conll",
        "srl/development": f"{ONTONOTES}/development/data/english",
        "srl/test": f"{ONTONOTES}/conll-2012-test/data/english",
        "coref/test.gold_conll": f"{ONTONOTES}/conll-2012-test/data/english",
        "snli/snli_1.0_dev.jsonl": "snli/snli_1.0/snli_1.0_dev.jsonl",
        "sst/dev.txt": "sst/dev.txt",
        "sst/train.txt": "sst/train.txt",
        "lm/train.*.txt*": "lm/training-monolingual.tokenized.shuffled/news.en-000[0-9][0-9]-of-00100",
        "bilm/options.json": "bilm/elmo_2x4096_512_2048cnn_2xhighway_options.json",
    }.items():
        assert located(tmp_path / name) == str(tmp_path / official)
    assert located("sst/dev.txt") == "sst/dev.txt"


@pytest.mark.parametrize("parent", ["", "srl/", "coref/"])
@pytest.mark.parametrize("folder", ["", "conll-formatted-ontonotes-5.0-12/"])
def test_the_public_release_of_ontonotes_is_read(
    tmp_path: Path, parent: str, folder: str
) -> None:
    root = tmp_path / f"{parent}{folder}{ONTONOTES}/train/data/english/annotations/tc"
    root.mkdir(parents=True)
    sample = (FIXTURES / "srl/tale.v4_gold_conll").read_bytes()
    (root / "tale.gold_conll").write_bytes(sample)
    for name in ("srl/train", "coref/train.gold_conll"):
        assert len(list(read_documents(tmp_path / name))) == 2


LOCATED = """
import sys
from elmo_tasks.formats.corpora import located
from tests.tiny import SAMPLES
files = sys.argv[1:]
before = [located(file) for file in files]
import elmo_tasks.tasks
assert [located(file) for file in files] == before
print("\\n".join(before))
"""


@pytest.mark.slow
def test_paths_do_not_depend_on_what_is_imported(tmp_path: Path) -> None:
    files = {
        "snli/snli_1.0_dev.jsonl": "snli_1.0/snli_1.0_dev.jsonl",
        "sst/dev.txt": "trees/dev.txt",
        "ner/eng.train": "conll2003/eng.train",
        "srl/development": f"{ONTONOTES}/development/data/english",
        "coref/test.gold_conll": f"{ONTONOTES}/conll-2012-test/data/english",
    }
    for official in files.values():
        _touch(tmp_path, f"{official}/x")
    command = [sys.executable, "-c", LOCATED]
    command += [str(tmp_path / name) for name in files]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    expected = [str(tmp_path / official) for official in files.values()]
    assert ended.stdout.split("\n")[:-1] == expected


def test_a_config_reads_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _touch(
        tmp_path,
        "snli/snli_1.0/snli_1.0_train.jsonl",
        "snli_1.0/snli_1.0_dev.jsonl",
        "vectors/glove.840B.300d.txt",
    )
    vector = "the" + " 0.5" * 300 + "\n"
    (tmp_path / "vectors/glove.840B.300d.txt").write_text(vector)
    for file in (
        "snli/snli_1.0/snli_1.0_train.jsonl",
        "snli_1.0/snli_1.0_dev.jsonl",
    ):
        shutil.copy(SAMPLES["snli"], tmp_path / file)
    monkeypatch.setenv(resources.DATA_VARIABLE, str(tmp_path))
    config = resources.configs_root() / "paper/snli.jsonnet"
    assert check_config(config).problems == []
    (tmp_path / "snli/snli_1.0/snli_1.0_train.jsonl").write_text("{}")
    read = list(open_text(tmp_path / "snli/snli_1.0_train.jsonl"))
    assert read == [(1, "{}")]


def test_report_names_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(resources.DATA_VARIABLE, str(tmp_path))
    _touch(tmp_path, "sst/dev.txt", "trees/test.txt")
    with pytest.raises(SystemExit) as ended:
        data.report(Namespace(tasks=["sst"], json=False))
    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 1 and lines[3:] == [
        "  ok       sst/dev.txt",
        "  ok       trees/test.txt",
    ]
    assert lines[2].startswith(
        "  missing  sst/train.txt  from https://nlp.stanford.edu/"
    )
