"""`elmo-tasks evaluate`: its outputs, and on data without labels one clear error, never a score."""

import json
import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from tests.archives.make import STORED
from tests.test_flow import elmo_tasks
from tests.tiny import FIXTURES, REAL_DATA


def columns(file: str, change: Callable[[list[str]], list[str]]) -> str:
    """A column file with each word's line changed."""
    lines = (FIXTURES / file).read_text().splitlines()
    words = (
        line if not line or line.startswith("#") else "\t".join(change(line.split()))
        for line in lines
    )
    return "".join(f"{line}\n" for line in words)


def without_answers() -> str:
    data = json.loads((FIXTURES / "squad/dev-v1.1.json").read_text())
    for question in (
        q for a in data["data"] for p in a["paragraphs"] for q in p["qas"]
    ):
        question["answers"] = []
    return json.dumps(data)


def without_labels() -> str:
    pairs = map(
        json.loads, (FIXTURES / "snli/snli_1.0_train.jsonl").read_text().splitlines()
    )
    return "".join(
        json.dumps({key: pair[key] for key in ("sentence1", "sentence2")}) + "\n"
        for pair in pairs
    )


CORPORA = {
    "ner, words only": ("ner", columns("ner/eng.bio", lambda row: row[:1]), ":3: "),
    "sst, one label": (
        "sst",
        "(3 (2 It) (3 works))\n(3 (2 It) (works))\n",
        ":2: .*works'",
    ),
    "squad": ("squad", without_answers(), "or-1"),
    "snli": ("snli", without_labels(), "nothing to score"),
    "srl, no arguments": (
        "srl",
        columns("srl/tale.v4_gold_conll", lambda row: [*row[:11], "-"]),
        ":2: ",
    ),
    "coref": (
        "coref",
        columns("coref/stories.gold_conll", lambda row: [*row[:-1], "-"]),
        "nothing to score",
    ),
}


@pytest.mark.parametrize("name", CORPORA)
def test_data_without_labels(name: str, tmp_path: Path) -> None:
    task, content, message = CORPORA[name]
    data, out = tmp_path / "data", tmp_path / "scores.json"
    data.write_text(content)
    with pytest.raises(InputError, match=message):
        elmo_tasks(
            "evaluate", STORED / "1" / f"{task}.tar.gz", data, "--output-file", out
        )
    assert not out.exists()


SRL = (STORED / "1" / "srl.tar.gz", "-o", '{"evaluation": {"type": "elmo_tasks_srl"}}')


@pytest.mark.parametrize(
    ("option", "output", "target"),
    [
        ("--output-file", "model.tar.gz", "model.tar.gz"),
        ("--predictions-output-file", "data", "data.gold"),
    ],
)
def test_evaluate_does_not_overwrite_its_input(
    option: str, output: str, target: str, tmp_path: Path
) -> None:
    archive, data = tmp_path / "model.tar.gz", tmp_path / "data.gold"
    shutil.copy(SRL[0], archive)
    shutil.copy(FIXTURES / "srl" / "tale.v4_gold_conll", data)
    before = (tmp_path / target).read_bytes()
    with pytest.raises(
        InputError, match=f"{target}: the output would overwrite an input file"
    ):
        elmo_tasks("evaluate", archive, data, *SRL[1:], option, tmp_path / output)
    assert (tmp_path / target).read_bytes() == before


def test_evaluate_does_not_replace_a_file_that_is_not_named(tmp_path: Path) -> None:
    data, out = FIXTURES / "srl" / "tale.v4_gold_conll", tmp_path / "found"
    (tmp_path / "found.gold").write_text("precious")
    arguments = ("evaluate", SRL[0], data, *SRL[1:], "--predictions-output-file", out)
    with pytest.raises(InputError, match="found.gold: the file exists, and goes with"):
        elmo_tasks(*arguments)
    assert (tmp_path / "found.gold").read_text() == "precious" and not out.exists()
    (tmp_path / "found.gold").unlink()
    for _ in range(2):
        elmo_tasks(*arguments)


def test_evaluate_writes_both_files_of_the_official_scorer(tmp_path: Path) -> None:
    data, out = FIXTURES / "srl" / "tale.v4_gold_conll", tmp_path / "out" / "found"
    elmo_tasks("evaluate", SRL[0], data, *SRL[1:], "--predictions-output-file", out)
    assert sorted(path.name for path in out.parent.iterdir()) == ["found", "found.gold"]


def scores(out: Path, *arguments: object) -> dict[str, float]:
    elmo_tasks("evaluate", *arguments, "--output-file", out)
    return dict(json.loads(out.read_text()))


LOADERS = {
    "batch size": {"batch_size": 3},
    "bucket": {"batch_sampler": {"type": "bucket", "batch_size": 2, "drop_last": True}},
    "tokens": {"batch_sampler": {"type": "max_tokens_sampler", "max_tokens": 30}},
    "part": {"batch_size": 1, "batches_per_epoch": 1},
}


@pytest.mark.parametrize("name", LOADERS)
def test_scores_do_not_depend_on_the_batches(name: str, tmp_path: Path) -> None:
    archive, data = STORED / "1" / "ner.tar.gz", FIXTURES / "ner" / "eng.bio"
    loader = json.dumps({"validation_data_loader": LOADERS[name]})
    expected = scores(tmp_path / "expected", archive, data, "--batch-size", 1)
    given = (archive, data, "-o", loader)
    found = [
        scores(tmp_path / "config", *given),
        scores(tmp_path / "2", *given, "--batch-size", 2),
    ]
    assert found == [pytest.approx(expected, abs=1e-5)] * 2


def test_real_pairs_with_unknown_words_are_scored(tmp_path: Path) -> None:
    real, part = REAL_DATA / "snli" / "snli_1.0_dev.jsonl", tmp_path / "dev.jsonl"
    if not real.exists():
        pytest.skip(f"{real} is missing")
    with real.open(encoding="utf-8") as lines:
        part.write_text("".join(islice(lines, 100)), encoding="utf-8")
    found = [
        scores(
            tmp_path / f"{size}",
            *(STORED / "1" / "snli.tar.gz", part, "--batch-size", size),
        )
        for size in (1, 32)
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-5)
