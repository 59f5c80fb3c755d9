"""The names of a run's files: each stands in one module, as AllenNLP has it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from allennlp.common.meta import META_NAME
from allennlp.models import archival, model
from allennlp.training import Checkpointer

import elmo_tasks
from elmo_tasks.system import run_names

PACKAGE = Path(elmo_tasks.__file__).parent

NAMES = {
    value
    for value in vars(run_names).values()
    if isinstance(value, str) and value.count(".") > value.startswith(".")
}

OF_OTHER_MODELS = {
    ("config.json", f"elmo/{name}.py")
    for name in ("sources/manylangs", "models/folders")
}
"""A transformer and ELMoForManyLangs have a file of this name, too."""


def texts(file: Path) -> Iterator[str]:
    """The strings in the code of a module."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_each_name_stands_once() -> None:
    assert {"config.json", "best.th", "model.tar.gz", "curve.jsonl"} <= NAMES
    found = set()
    for file in PACKAGE.rglob("*.py"):
        if file.name == "run_names.py":
            continue
        for text in texts(file):
            name = text.rpartition("/")[2]
            if name in NAMES and " " not in text:
                found.add((name, file.relative_to(PACKAGE).as_posix()))
    assert found <= OF_OTHER_MODELS


def test_names_are_those_of_allennlp(tmp_path: Path) -> None:
    assert archival.CONFIG_NAME == run_names.CONFIG
    assert META_NAME == run_names.META
    assert archival._WEIGHTS_NAME == run_names.WEIGHTS
    assert model._DEFAULT_WEIGHTS == run_names.BEST
    checkpointer = Checkpointer(str(tmp_path))
    paths = [
        checkpointer._training_state_path(3, 14),
        checkpointer._model_state_path(3, 14),
    ]
    for path in paths:
        found = run_names.CHECKPOINT.fullmatch(Path(path).name)
        assert found is not None
        assert (found["epochs"], found["batches"]) == ("3", "14")
    assert Path(paths[0]).match(run_names.TRAINING_STATES)


def test_metrics_of_epochs_are_in_order(tmp_path: Path) -> None:
    names = [run_names.epoch_metrics_name(epoch) for epoch in (10, 9, 0)]
    for name in [*names, "metrics_epoch_1.json.old", "metrics_epoch_last.json"]:
        (tmp_path / name).touch()
    found = run_names.epoch_metrics(tmp_path)
    assert list(found) == [0, 9, 10]
    assert found[9] == tmp_path / "metrics_epoch_9.json"
