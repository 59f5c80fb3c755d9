"""NER data without entities, or with other entity types than the training data."""

import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.checks import training
from elmo_tasks.checks.config import check_config
from elmo_tasks.checks.entity_types import entity_type_problems
from elmo_tasks.errors import InputError
from tests.checks.test_training import run
from tests.test_configs import FOLDER
from tests.tiny import REAL_DATA, heard

NER = FOLDER / "ner.jsonnet"

pytestmark = pytest.mark.usefixtures("mini")


def write(file: Path, *types: str) -> str:
    """Writes a sentence with an entity of each type, with its tags in column 2."""
    file.write_text("".join(f"Word {tag}\n" for tag in ["O", *(f"B-{type_}" for type_ in types)]))
    return str(file)


def problems(**keys: Any) -> list[tuple[str, str, str]]:
    found = check_config(NER, json.dumps(keys), build=False).problems
    return [(problem.path, problem.kind, problem.got) for problem in found]


def test_training_data_without_the_entity_column(root: Path, tmp_path: Path) -> None:
    train, validation = tmp_path / "cut", root / "ner/eng.testa"
    lines = (root / "ner/eng.train").read_text().splitlines()
    train.write_text("".join(f"{' '.join(line.split()[:-1])}\n" for line in lines))
    assert problems(train_data_path=str(train)) == [
        ("train_data_path", "foreign", f"chunks: ADVP, NP, PP, VP (column 3 of {train})"),
        ("validation_data_path", "disjoint", f"only LOC, MISC, ORG, PER (column 4 of {validation})"),
    ]
    with pytest.raises(InputError, match=r"validation_data_path: .* ADVP, NP, PP, VP"):
        run(NER, tmp_path / "run", train_data_path=str(train))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("split", ["train_data_path", "validation_data_path"])
def test_data_without_any_entity(split: str, tmp_path: Path) -> None:
    empty = write(tmp_path / "empty")
    assert problems(**{split: empty}) == [(split, "disjoint", f"none (column 2 of {empty})")]


@pytest.mark.parametrize(
    ("types", "annotation"),
    [
        (["NP", "PP", "VP"], "chunks"),
        (["NN", "NNS", "VBZ"], "parts of speech"),
        (["NP", "PER"], None),
        (["NUM", "X"], None),
    ],
)
def test_types_that_are_not_entities(types: list[str], annotation: str | None, tmp_path: Path) -> None:
    file = write(tmp_path / "data.txt", *types)
    config = {"dataset_reader": {"type": "elmo_tasks_ner"}, "train_data_path": file}
    expected = [f"{annotation}: {', '.join(types)} (column 2 of {file})"] if annotation else []
    assert [problem.got for problem in entity_type_problems(config)] == expected


def test_suspicious_types_give_warnings(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    train, validation = write(tmp_path / "train", "NP", "VP"), write(tmp_path / "dev", "NP", "ORG", "ORG")
    with heard(caplog, training.__name__):
        run(NER, tmp_path / "run", train_data_path=train, validation_data_path=validation)
    assert f"chunks: NP, VP (column 2 of {train})" in caplog.text and f"also ORG 2 in {validation}" in caplog.text


TAGGED = {"type": "elmo_tasks_ner", "tag_label": "pos"}


@pytest.mark.parametrize("reader", ["conll2003", "nobody", 3, None, {**TAGGED, "tag_label": []}, TAGGED])
def test_other_readers_and_unreadable_files_are_skipped(reader: Any, tmp_path: Path) -> None:
    config = {"dataset_reader": reader, "train_data_path": write(tmp_path / "train", "NP", "VP")}
    assert list(entity_type_problems(config)) == []
    config = {"dataset_reader": "elmo_tasks_ner", "train_data_path": "nobody", "test_data_path": [3]}
    assert list(entity_type_problems(config)) == []


@pytest.mark.parametrize("corpus", ["ner", "ner_wikigold"])
def test_real_corpora_share_their_types(corpus: str) -> None:
    if not (REAL_DATA / corpus).is_dir():
        pytest.skip(f"{REAL_DATA / corpus} is absent")
    files = {"train_data_path": "eng.train", "validation_data_path": "eng.testa"}
    paths = {key: str(REAL_DATA / corpus / name) for key, name in files.items()}
    assert list(entity_type_problems({"dataset_reader": "elmo_tasks_ner", **paths})) == []
