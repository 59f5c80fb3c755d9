"""NER data whose entities are none, or not those of the training data: what check reports, and what train refuses."""

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
    """A sentence with an entity of each type, its tags in column 2."""
    file.write_text("".join(f"Word {tag}\n" for tag in ["O", *(f"B-{type_}" for type_ in types)]))
    return str(file)


def cut(source: Path, file: Path) -> str:
    """A copy without the last column."""
    lines = [line.split()[:-1] for line in source.read_text().splitlines()]
    file.write_text("".join(f"{' '.join(fields)}\n" for fields in lines))
    return str(file)


def overrides(**paths: str) -> dict[str, str]:
    return {f"{split}_data_path": path for split, path in paths.items()}


def found(**keys: Any) -> list[tuple[str, str, str]]:
    """Key, kind and finding of each problem."""
    problems = check_config(NER, json.dumps(keys), build=False).problems
    return [(problem.path, problem.kind, problem.found) for problem in problems]


def test_training_data_without_the_entity_column(root: Path, tmp_path: Path) -> None:
    train, validation = cut(root / "ner" / "eng.train", tmp_path / "cut"), root / "ner" / "eng.testa"
    chunks = f"ADVP, NP, PP, VP (column 3 of {train})"
    assert found(train_data_path=train) == [
        ("train_data_path", "foreign", f"chunks: {chunks}"),
        ("validation_data_path", "disjoint", f"none of them, but LOC, MISC, ORG, PER (column 4 of {validation})"),
    ]
    with pytest.raises(InputError, match=r"validation_data_path: wanted types of the training data, ADVP, NP, PP, VP"):
        run(NER, tmp_path / "run", train_data_path=train)
    assert not (tmp_path / "run").exists()


def test_data_without_any_entity(root: Path, tmp_path: Path) -> None:
    empty = write(tmp_path / "empty")
    for split in ("train", "validation"):
        assert found(**overrides(**{split: empty})) == [
            (f"{split}_data_path", "disjoint", f"none (column 2 of {empty})"),
        ]
        with pytest.raises(InputError, match=rf"{split}_data_path: .* found none \(column 2"):
            run(NER, tmp_path / split, **overrides(**{split: empty}))


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
def test_types_that_are_no_entities(types: list[str], annotation: str | None, tmp_path: Path) -> None:
    file = write(tmp_path / "data.txt", *types)
    config = {"dataset_reader": {"type": "elmo_tasks_ner"}, "train_data_path": file}
    expected = [f"{annotation}: {', '.join(types)} (column 2 of {file})"] if annotation else []
    assert [problem.found for problem in entity_type_problems(config)] == expected


def test_suspicious_types_are_reported_and_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    train = write(tmp_path / "train.txt", "NP", "VP")
    validation = write(tmp_path / "dev.txt", "NP", "ORG", "ORG")
    expected = [f"chunks: NP, VP (column 2 of {train})", f"besides ORG 2 in {validation}"]
    paths = overrides(train=train, validation=validation)
    assert [finding for _, _, finding in found(**paths)] == expected
    training.logger.addHandler(caplog.handler)
    run(NER, tmp_path / "run", **paths)
    training.logger.removeHandler(caplog.handler)
    assert all(finding in caplog.text for finding in expected)


def test_each_split_has_its_own_reader_and_column(root: Path, tmp_path: Path) -> None:
    train = cut(root / "ner" / "eng.train", tmp_path / "cut")
    chunk = {"type": "elmo_tasks_ner", "tag_label": "chunk"}
    config = {"dataset_reader": chunk, "train_data_path": train, "test_data_path": str(root / "ner" / "eng.testa")}
    assert list(entity_type_problems(config)) == []
    (problem,) = entity_type_problems({**config, "validation_dataset_reader": "elmo_tasks_ner"})
    assert (problem.path, problem.kind) == ("test_data_path", "disjoint")


TAGGED = {"type": "elmo_tasks_ner", "tag_label": "pos"}


@pytest.mark.parametrize("reader", ["conll2003", "nobody", 3, None, TAGGED, {**TAGGED, "tag_label": []}])
def test_other_readers_and_unreadable_files_are_passed_over(reader: Any, root: Path, tmp_path: Path) -> None:
    train = cut(root / "ner" / "eng.train", tmp_path / "cut")
    paths = {"train_data_path": train, "validation_data_path": str(root / "ner" / "eng.testa")}
    assert list(entity_type_problems({"dataset_reader": reader, **paths})) == []
    malformed = {**paths, "train_data_path": str(FIXTURES / "nobody"), "test_data_path": [3]}
    assert list(entity_type_problems({"dataset_reader": "elmo_tasks_ner", **malformed})) == []


def test_the_types_of_a_handful_of_instances_are_not_those_of_the_data(tmp_path: Path) -> None:
    """Eight sentences of a sorted file may have none of the types of eight validation sentences."""
    train, validation = tmp_path / "train.txt", tmp_path / "dev.txt"
    train.write_text("Mira B-PER\n\n" * 8 + "Harrow B-LOC\n")
    validation.write_text("Harrow B-LOC\n")
    keys = {**overrides(train=str(train), validation=str(validation)), "datasets_for_vocab_creation": ["train"]}
    assert [str(problem) for problem in check_config(NER, json.dumps(keys)).problems] == []


@pytest.mark.parametrize("corpus", ["ner", "ner_wikigold"])
def test_real_corpora_share_their_types(corpus: str) -> None:
    if not (REAL_DATA / corpus).is_dir():
        pytest.skip(f"{REAL_DATA / corpus} is absent")
    train, validation = (str(REAL_DATA / corpus / name) for name in ("eng.train", "eng.testa"))
    config = {"dataset_reader": "elmo_tasks_ner", **overrides(train=train, validation=validation)}
    assert list(entity_type_problems(config)) == []
    other = str(REAL_DATA / ("ner_wikigold" if corpus == "ner" else "ner") / "eng.testa")
    (problem,) = entity_type_problems({**config, "validation_data_path": other})
    assert problem.kind == "disjoint"
