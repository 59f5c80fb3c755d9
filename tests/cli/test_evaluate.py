"""
`elmo-tasks evaluate`: its outputs, and on data without labels one clear error, never a
score.
"""

import json
import shutil
from pathlib import Path

import pytest
from allennlp.data import DatasetReader

from elmo_tasks.errors import InputError
from tests.archives.make import STORED
from tests.test_flow import elmo_tasks
from tests.tiny import FIXTURES, SAMPLES

SQUAD = """
{"data": [{"paragraphs": [{"context": "The ferry left.", "qas": [
  {"id": "or-1", "question": "What left?", "answers": []}]}]}]}
"""
CORPORA = {
    "ner, words only": ("ner", "Mira\nleft\n", ":1: "),
    "sst, one label": (
        "sst",
        "(3 (2 It) (3 works))\n(3 (2 It) (works))\n",
        ":2: .*works'",
    ),
    "squad": ("squad", SQUAD, "or-1"),
    "snli": (
        "snli",
        '{"sentence1": "A dog barks .", "sentence2": "It sleeps ."}\n',
        "nothing to score",
    ),
    "srl, no arguments": ("srl", "d 0 0 sails VBZ * sail 01 - - * -\n", ":1: "),
    "coref": ("coref", "d 0 0 She PRP * - - - - * -\n", "nothing to score"),
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


@pytest.mark.parametrize("other", ["out.gold", "link", "out"])
def test_evaluate_does_not_write_two_outputs_to_one_file(
    other: str, tmp_path: Path
) -> None:
    """The gold answers have a file of their own."""
    (tmp_path / "link").symlink_to("out.gold")
    outputs = ("--output-file", tmp_path / "out.gold")
    outputs += ("--predictions-output-file", tmp_path / other)
    data = FIXTURES / "srl" / "tale.v4_gold_conll"
    with pytest.raises(InputError, match="expected a file for each output"):
        elmo_tasks("evaluate", SRL[0], data, *SRL[1:], *outputs)
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_evaluate_does_not_replace_a_file_that_is_not_named(tmp_path: Path) -> None:
    data, out = FIXTURES / "srl" / "tale.v4_gold_conll", tmp_path / "found"
    (tmp_path / "found.gold").write_text("precious")
    arguments = ("evaluate", SRL[0], data, *SRL[1:], "--predictions-output-file", out)
    with pytest.raises(
        InputError, match="found.gold: the file exists, but .*, to which it belongs"
    ):
        elmo_tasks(*arguments)
    assert (tmp_path / "found.gold").read_text() == "precious" and not out.exists()
    (tmp_path / "found.gold").unlink()
    for _ in range(2):
        elmo_tasks(*arguments)
        names = [path.name for path in tmp_path.iterdir()]
        assert sorted(names) == ["found", "found.gold"]


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
def test_scores_do_not_depend_on_the_batches(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    archive, data = STORED / "1" / "ner.tar.gz", FIXTURES / "ner" / "eng.bio"
    loader = json.dumps({"validation_data_loader": LOADERS[name]})
    expected = scores(tmp_path / "expected", archive, data, "--batch-size", 1)
    of_config = scores(tmp_path / "config", archive, data, "-o", loader)
    assert of_config == pytest.approx(expected, abs=1e-5)
    of_option = scores(tmp_path / "2", archive, data, "-o", loader, "--batch-size", 2)
    assert of_option == pytest.approx(expected, abs=1e-5)
    scores(tmp_path / "1", archive, data, "-o", '{"dataset_reader.max_instances": 1}')
    assert "eng.bio: dataset_reader.max_instances: at most 1 read" in caplog.text


WORDS = {"sst": ("words",), "snli": ("premise", "hypothesis")}


@pytest.mark.parametrize("task", WORDS)
def test_predictions_are_words_and_labels_in_the_order_of_the_file(
    task: str, tmp_path: Path
) -> None:
    archive, data = STORED / "1" / f"{task}.tar.gz", SAMPLES[task]
    found, out = tmp_path / "found.jsonl", tmp_path / "scores.json"
    options = ("--output-file", out, "--predictions-output-file", found)
    elmo_tasks("evaluate", archive, data, *options)
    reader = DatasetReader.by_name(f"elmo_tasks_{task}")()
    correct = 0
    records = [json.loads(line) for line in found.read_text().splitlines()]
    for record, instance in zip(records, reader.read(data), strict=True):
        known = instance["metadata"].metadata
        for name in WORDS[task]:
            assert record.pop(name) == known[name]
        assert record["gold"] == known["label"]
        probabilities = record["probabilities"]
        assert record["label"] == max(probabilities, key=probabilities.get)
        assert record.keys() == {"gold", "label", "probabilities"}
        correct += record["gold"] == record["label"]
    assert json.loads(out.read_text())["accuracy"] == correct / len(records)
