"""NER data without entities, or with other entity types than the training data."""

import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks import settings
from elmo_tasks.checks import training
from elmo_tasks.checks.config import check_config
from elmo_tasks.checks.entity_types import entity_type_problems
from elmo_tasks.errors import InputError
from tests.checks.test_training import run
from tests.test_configs import FOLDER
from tests.tiny import FIXTURES, REAL_DATA, write_data_root

NER = FOLDER / "ner.jsonnet"


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    root = write_data_root(tmp_path / "data")
    monkeypatch.setenv(settings.SCALE_VARIABLE, "mini")
    for name in (settings.DATA_VARIABLE, settings.FIXTURES_VARIABLE):
        monkeypatch.setenv(name, str(root))
    return root


def write(file: Path, *types: str) -> str:
    """Writes a sentence with an entity of each type, with its tags in column 2."""
    file.write_text("".join(f"Word {tag}\n" for tag in ["O", *(f"B-{type_}" for type_ in types)]))
    return str(file)


def without_last_column(source: Path, file: Path) -> str:
    lines = [line.split()[:-1] for line in source.read_text().splitlines()]
    file.write_text("".join(f"{' '.join(fields)}\n" for fields in lines))
    return str(file)


def problems(**keys: Any) -> list[tuple[str, str, str]]:
    found = check_config(NER, json.dumps(keys), build=False).problems
    return [(problem.path, problem.kind, problem.got) for problem in found]


def test_training_data_without_the_entity_column(root: Path, tmp_path: Path) -> None:
    train, validation = without_last_column(root / "ner/eng.train", tmp_path / "cut"), root / "ner/eng.testa"
    assert problems(train_data_path=train) == [
        ("train_data_path", "foreign", f"chunks: ADVP, NP, PP, VP (column 3 of {train})"),
        ("validation_data_path", "disjoint", f"only LOC, MISC, ORG, PER (column 4 of {validation})"),
    ]
    with pytest.raises(InputError, match=r"validation_data_path: .* ADVP, NP, PP, VP"):
        run(NER, tmp_path / "run", train_data_path=train)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("split", ["train_data_path", "validation_data_path"])
def test_data_without_any_entity(split: str, tmp_path: Path) -> None:
    empty = write(tmp_path / "empty")
    assert problems(**{split: empty}) == [(split, "disjoint", f"none (column 2 of {empty})")]
    with pytest.raises(InputError, match=rf"{split}: .* got none \(column 2"):
        run(NER, tmp_path / "run", **{split: empty})


@pytest.mark.parametrize(
    ("types", "annotation"),
    [
        (["NP", "PP", "VP"], "chunks"),
        (["NN", "NNS", "VBZ"], "parts of speech"),
        (["NOUN", "VERB"], "parts of speech"),
        (["PP", "PRT"], None),
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
    training.logger.addHandler(caplog.handler)
    run(NER, tmp_path / "run", train_data_path=train, validation_data_path=validation)
    training.logger.removeHandler(caplog.handler)
    assert f"chunks: NP, VP (column 2 of {train})" in caplog.text and f"also ORG 2 in {validation}" in caplog.text


TAGGED = {"type": "elmo_tasks_ner", "tag_label": "pos"}


@pytest.mark.parametrize("reader", ["conll2003", "nobody", 3, None, TAGGED, {**TAGGED, "tag_label": []}])
def test_other_readers_and_unreadable_files_are_skipped(reader: Any, root: Path, tmp_path: Path) -> None:
    train = without_last_column(root / "ner/eng.train", tmp_path / "cut")
    paths = {"train_data_path": train, "validation_data_path": str(root / "ner/eng.testa")}
    assert list(entity_type_problems({"dataset_reader": reader, **paths})) == []
    malformed = {**paths, "train_data_path": str(FIXTURES / "nobody"), "test_data_path": [3]}
    assert list(entity_type_problems({"dataset_reader": "elmo_tasks_ner", **malformed})) == []


@pytest.mark.parametrize("corpus", ["ner", "ner_wikigold"])
def test_real_corpora_share_their_types(corpus: str) -> None:
    if not (REAL_DATA / corpus).is_dir():
        pytest.skip(f"{REAL_DATA / corpus} is absent")
    paths = {f"{split}_data_path": str(REAL_DATA / corpus / f"eng.{name}") for split, name in SPLITS}
    assert list(entity_type_problems({"dataset_reader": "elmo_tasks_ner", **paths})) == []


SPLITS = (("train", "train"), ("validation", "testa"))
