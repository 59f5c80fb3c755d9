"""`--json`: one document on stdout, with the values that the text shows."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.test_options import elmo_tasks
from tests.elmo.samples import write_bilm
from tests.pretraining import toy
from tests.probes.samples import WSD
from tests.tiny import FIXTURES

POS = FIXTURES / "pos" / "dev.conllu"


class Shown(NamedTuple):
    text: str
    document: Any


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*line: object) -> Shown:
        elmo_tasks(*line)
        text = capsys.readouterr().out
        elmo_tasks(*line, "--json")
        return Shown(text, json.loads(capsys.readouterr().out))

    return run


def test_a_language_model(shown: Any, tmp_path: Path) -> None:
    run, text, pairs = tmp_path / "run", tmp_path / "a.txt", tmp_path / "pairs.jsonl"
    toy.fake_run(run)
    text.write_text("the cook bakes .\n")
    pairs.write_text('{"good": "the cook", "bad": "cook the"}\n')
    one = shown("bilm", "perplexity", text, "--model", run)
    (file,) = one.document["files"]
    assert file["file"] == str(text) and f"{file['geometric']:.3f}" in one.text
    assert one.document["all"]["geometric"] == file["geometric"]
    both = shown("bilm", "perplexity", text, text, "--model", run).document
    assert both["all"]["tokens"] == sum([file["tokens"] for file in both["files"]])
    score = shown("bilm", "score", "--pairs", pairs, "--model", run)
    (row, *_) = score.document["groups"]
    assert row["pairs"] == 1 and f"{row['forward']['percent']:.2f}" in score.text


def test_probes(shown: Any, tmp_path: Path) -> None:
    model = ("--model", "+".join(map(str, write_bilm(tmp_path))))
    wsd = shown("probe", "wsd", WSD, *model)
    assert wsd.document["rows"][0]["name"] == "first sense"
    assert f"{wsd.document['rows'][0]['scores']['all']['f1']:.1f}" in wsd.text
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cook bakes .\nthe sailor bakes .\n")
    near = shown("probe", "neighbors", "bakes", "--corpus", corpus, *model).document
    assert near["source"]["words"][near["source"]["position"]] == "bakes"
    assert near["neighbors"][0]["number"] == 2 and near["words"] is None
    pos = shown("probe", "pos", POS, FIXTURES / "pos/train.conllu", *model)
    last = pos.document["rows"][-1]
    assert f"{last['name']}" in pos.text and f"{last['accuracy']:.1f}" in pos.text
