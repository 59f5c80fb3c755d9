"""`elmo-tasks data`: what is there, official names."""

from argparse import Namespace
from pathlib import Path

import pytest

from elmo_tasks import resources
from elmo_tasks.cli import data
from elmo_tasks.formats.annotation.ontonotes import read_documents
from tests.tiny import FIXTURES

ONTONOTES = "conll-formatted-ontonotes-5.0/data"


def _touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


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


def test_report_names_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(resources.DATA_VARIABLE, str(tmp_path))
    _touch(tmp_path, "sst/dev.txt", "trees/test.txt")
    with pytest.raises(SystemExit) as ended:
        data.report(Namespace(tasks=["sst"]))
    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 1 and lines[3:] == [
        "  ok       sst/dev.txt",
        "  ok       trees/test.txt",
    ]
    assert lines[2].startswith(
        "  missing  sst/train.txt  from https://nlp.stanford.edu/"
    )
