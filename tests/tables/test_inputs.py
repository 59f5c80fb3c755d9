"""The data of a table's runs: recorded in their results, and the same when they resume."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import execute, run_dir
from elmo_tasks.experiments.tables.runs import Planner, Run
from elmo_tasks.system.run_names import ARCHIVE
from tests.tables.tables import planner, row
from tests.tiny import write_data_root

SMALLER = {
    "model.encoder.hidden_sizes": [4],
    "model.composition.hidden_sizes": [4],
    "model.hidden_size": 4,
    "trainer.num_epochs": 1,
}


@pytest.fixture
def planned(tmp_path: Path) -> Planner:
    root = write_data_root(tmp_path / "data")
    keys = {"metric": "accuracy", "changes": SMALLER}
    rows = [
        row("plain", config=str(root / "training_config/snli.jsonnet"), **keys),
        row("elmo", config=str(root / "training_config/snli_elmo.jsonnet"), **keys),
    ]
    return planner(tmp_path, rows)


def run_of(planned: Planner, name: str) -> Run:
    return planned.run(planned.table.row(name), 1)


def finished(run: Run) -> dict[str, Any]:
    run.prepare()
    execute.execute(run.folder)
    found = run_dir.read_result(run.folder)
    assert found is not None
    return found


def test_the_inputs_of_a_run(planned: Planner) -> None:
    config = run_of(planned, "elmo").plan["config"]
    inputs = finished(run_of(planned, "elmo"))["inputs"]
    expected = {}
    for split in ("train", "validation"):
        file = config[f"{split}_data_path"]
        expected[file] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    assert inputs == expected


def test_an_interrupted_run_does_not_go_on_with_other_data(planned: Planner) -> None:
    """Its folder stays, and it resumes once the data are restored."""
    run = run_of(planned, "plain")
    expected = finished(run)
    (run.folder / run_dir.RESULT).unlink()  # interrupted before its result
    train = Path(run.plan["config"]["train_data_path"])
    known = train.read_text()
    train.write_text(known + known.splitlines()[0] + "\n")
    run.prepare()
    with pytest.raises(InputError, match="other data than the run began") as error:
        execute.execute(run.folder)
    assert str(train) in str(error.value) and str(run.folder) in str(error.value)
    assert (run.folder / "model" / "model.tar.gz").is_file()
    train.write_text(known)
    assert finished(run)["scores"] == expected["scores"]


def test_nothing_remains_of_a_run_that_stopped_before_a_checkpoint(
    planned: Planner,
) -> None:
    """Not its vocabulary, either, which is that of the data as they were."""
    run = run_of(planned, "plain")
    finished(run)
    model = run.folder / "model"
    for file in [
        run.folder / run_dir.RESULT,
        *model.glob("*metrics*"),
        model / ARCHIVE,
    ]:
        file.unlink()
    assert (model / "vocabulary" / "tokens.txt").is_file()
    train = Path(run.plan["config"]["train_data_path"])
    known = train.read_text()
    train.write_text("no JSON\n")
    run.prepare()
    with pytest.raises(InputError):
        execute.execute(run.folder)
    assert not (model / "vocabulary" / "tokens.txt").exists()
    train.write_text(known)
    assert finished(run)["scores"]


def test_all_files_that_a_row_reads_are_inputs(tmp_path: Path) -> None:
    """What it is scored on, the data of its members, and test data of its vocabulary."""
    root = write_data_root(tmp_path / "data")
    known = root / "snli" / "snli_1.0_train.jsonl"
    scored, test = [str(shutil.copy(known, tmp_path / name)) for name in ("a", "b")]
    keys: dict[str, Any] = {"metric": "accuracy", "split": "test", "file": scored}
    keys["config"] = str(root / "training_config/snli.jsonnet")
    keys["changes"] = SMALLER | {"test_data_path": test}
    rows = [row("one", **keys)]
    rows.append(row("votes", ensemble={"of": "one", "members": 2}, **keys))
    planned = planner(tmp_path, rows)
    for run in planned.runs([planned.table.row("votes")], 1):
        inputs = set(finished(run)["inputs"])
        assert {scored, run.plan["config"]["train_data_path"]} < inputs
        assert test in inputs or run.row.name == "votes"
