"""
An archive constructs what is registered, and nothing else. AllenNLP's own loading, which
imports a class by its path, is the oracle: where it imports one, opening is refused.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allennlp.models import Model, archival

from elmo_tasks.training.archives.contents import unpacked
from elmo_tasks.training.archives.loading import load_archive, score
from tests.archives.make import STORED
from tests.checks.places import changed, places
from tests.tiny import SAMPLES

MODULE = "somebodys_code"
PATH = f"{MODULE}.run"
CODE = """
def run(*arguments, **options):
    raise TypeError("ran")
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module that can be imported."""
    (tmp_path / f"{MODULE}.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield
    sys.modules.pop(MODULE, None)


def was_imported() -> bool:
    """Whether the module has been imported since this was last asked."""
    return sys.modules.pop(MODULE, None) is not None


def config_of(task: str) -> dict[str, Any]:
    with unpacked(STORED / "1" / f"{task}.tar.gz") as folder:
        return dict(json.loads((folder / "config.json").read_text()))


def folder_with(config: Any, task: str, folder: Path) -> Path:
    """An unpacked archive with another config."""
    with unpacked(STORED / "1" / f"{task}.tar.gz") as sound:
        for path in sound.rglob("*"):
            target = folder / path.relative_to(sound)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_file():
                target.write_bytes(path.read_bytes())
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def outcome(load: Any) -> str:
    try:
        load()
    except Exception as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("task", ["ner", "snli"])
def test_every_place_where_allennlp_would_import(
    task: str, tmp_path: Path, code: None
) -> None:
    config = config_of(task)
    (tmp_path / "unpacked").mkdir()
    folder = folder_with(config, task, tmp_path / "unpacked")
    tried, resolved, wrong = 0, 0, []
    for path, _ in places(config):
        if path[0] in ("trainer", "train_data_path"):
            continue
        for value in (PATH, {"type": PATH}):
            other = changed(config, path, value)
            (folder / "config.json").write_text(json.dumps(other))
            outcome(lambda: archival.load_archive(folder))  # AllenNLP's own
            imports = was_imported()
            message = outcome(lambda: load_archive(folder))
            refused = f"names code to run: '{PATH}'" in message
            tried += 1
            resolved += imports
            is_right = refused == imports or path == ("model",) and message
            if path == ("dataset_reader",):  # a text, with which AllenNLP fails
                is_right = refused
            if was_imported() or not is_right or "\n" in message:
                wrong.append((path, value, imports, message))
    assert not wrong, (len(wrong), wrong[:6])
    assert tried > 50 and resolved > 10


@pytest.mark.parametrize(
    "key", ["data_loader", "validation_data_loader", "evaluation", "vocabulary"]
)
@pytest.mark.parametrize("value", [PATH, {"type": PATH}])
def test_parts_that_evaluate_constructs(
    key: str, value: Any, tmp_path: Path, code: None
) -> None:
    (tmp_path / "unpacked").mkdir()
    folder = folder_with({**config_of("ner"), key: value}, "ner", tmp_path / "unpacked")
    message = outcome(lambda: score(load_archive(folder), SAMPLES["ner"]))
    assert message and "\n" not in message and not was_imported()


def test_a_name_that_the_user_gives(tmp_path: Path, code: None) -> None:
    """Overrides are the user's own; what they name is imported, and so are later names."""
    (tmp_path / "unpacked").mkdir()
    other = changed(config_of("ner"), ("model", "encoder", "type"), PATH)
    folder = folder_with(other, "ner", tmp_path / "unpacked")
    overrides = json.dumps({"model.encoder.type": PATH})
    message = outcome(lambda: load_archive(folder, overrides=overrides))
    assert was_imported() and "names code" not in message
    message = outcome(lambda: load_archive(folder, overrides="{}"))
    assert f"names code to run: '{PATH}' (expected a registered name" in message
    outcome(lambda: Model.by_name(PATH))
    assert was_imported()
