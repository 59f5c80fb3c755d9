"""The data of a table's runs are the same when they resume."""

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
    scored = shutil.copy(root / "snli" / "snli_1.0_dev.jsonl", root / "scored.jsonl")
    keys = {"metric": "accuracy", "changes": SMALLER, "file": str(scored)}
    config = str(root / "training_config/snli.jsonnet")
    return planner(tmp_path, [row("plain", config=config, **keys)])


def finished(run: Run) -> dict[str, Any]:
    run.prepare()
    execute.execute(run.folder)
    found = run_dir.read_result(run.folder)
    assert found is not None
    return found


def test_an_interrupted_run_does_not_go_on_with_other_data(planned: Planner) -> None:
    """Its folder stays, and it resumes once the data are restored."""
    run = planned.run(planned.table.rows[0], 1)
    expected = finished(run)
    assert run.plan["file"] in expected["inputs"]
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
    run = planned.run(planned.table.rows[0], 1)
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
