"""The files that a run has read: which, and whether they have changed since."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import execute, run_dir
from elmo_tasks.experiments.tables.inputs import Inputs, changed, described
from elmo_tasks.experiments.tables.results import Summary
from elmo_tasks.experiments.tables.runs import Planner, Run, runnable
from elmo_tasks.experiments.tables.text import remarks
from elmo_tasks.run_names import ARCHIVE
from elmo_tasks.training.checks.files import names_of_inputs
from tests.tables.tables import planner, row
from tests.tiny import write_data_root

UNREADABLE = Path("/proc/self/mem")
"""Its first bytes belong to nothing."""

SMALLER = {
    "model.encoder.hidden_sizes": [4],
    "model.composition.hidden_sizes": [4],
    "model.hidden_size": 4,
    "trainer.num_epochs": 1,
}


def write_text(file: Path, text: str, *, seconds: int = 0) -> Path:
    """Write a file whose date is so many seconds after 2026-11-01."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (1793491200 + seconds,) * 2)
    return file


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda file: None, False),
        (lambda file: write_text(file, "one two", seconds=9), False),  # the same again
        (lambda file: write_text(file, "one two three"), True),
        (lambda file: write_text(file, "one owt", seconds=9), True),
        (lambda file: write_text(file, "one owt", seconds=-9), True),
        (lambda file: file.unlink(), False),  # nobody can tell
        (lambda file: (file.unlink(), file.symlink_to(file)), False),
    ],
    ids=["as it was", "written again", "longer", "newer", "older", "removed", "loop"],
)
@pytest.mark.parametrize("name", ["text.txt", "", "*.txt"])
def test_a_file_has_changed(
    name: str, change: Any, expected: bool, tmp_path: Path
) -> None:
    file = write_text(tmp_path / "data" / "text.txt", "one two")
    named = str(tmp_path / "data" / name)
    known = described([named])
    assert list(known) == [named]
    change(file)
    assert changed(known) == ([named] if expected else [])


def test_a_folder_has_changed(tmp_path: Path) -> None:
    """Another file in it, another name, or the texts of two files exchanged."""
    folder = tmp_path / "data"
    for name in ("a", "b/c"):
        write_text(folder / name, name[0])
    known = described([str(folder)])
    assert changed(known) == []
    extra = write_text(folder / "b" / "extra", "")
    assert changed(known) == [str(folder)]
    extra.unlink()
    assert changed(known) == []
    write_text(folder / "a", "b", seconds=9)
    write_text(folder / "b" / "c", "a", seconds=9)
    assert changed(known) == [str(folder)]


def test_members_of_archives_and_lists(tmp_path: Path) -> None:
    archive = write_text(tmp_path / "vectors.zip", "of any contents")
    two = [write_text(tmp_path / name, name) for name in ("a.txt", "b.txt")]
    listed = ", ".join(str(file) for file in two)
    known = described([f"{archive}!glove.txt", listed, "https://example.org/a.txt"])
    assert list(known) == [f"{archive}!glove.txt", listed]
    write_text(archive, "others")
    write_text(two[1], "c.txt", seconds=9)
    assert changed(known) == list(known)


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
    """Data, word vectors and biLM, and no file that the run itself has made."""
    config = run_of(planned, "elmo").plan["config"]
    inputs = finished(run_of(planned, "elmo"))["inputs"]
    data = {config["train_data_path"], config["validation_data_path"]}
    elmo = config["model"]["elmo"]
    bilm = {str(elmo[key]) for key in ("options_file", "weight_file")}
    assert data | bilm <= set(inputs)
    assert all(Path(name).is_file() for name in inputs)
    assert not any(name.startswith(str(planned.home)) for name in inputs)


def test_a_table_says_which_results_are_of_other_data(planned: Planner) -> None:
    """Of those runs alone; and again none when the data are as they were."""
    for name in ("plain", "elmo"):
        finished(run_of(planned, name))
    assert not any("changed" in remark for remark in remarks(Summary(planned, seeds=1)))
    weights = Path(
        run_of(planned, "elmo").plan["config"]["model"]["elmo"]["weight_file"]
    )
    known = weights.read_bytes()
    weights.write_bytes(known + b"more")
    (found,) = [one for one in remarks(Summary(planned, seeds=1)) if "changed" in one]
    assert found.startswith(f"elmo: run before {weights} changed")
    assert str(planned.home) in found  # where to delete it
    weights.write_bytes(known)
    assert not any("changed" in remark for remark in remarks(Summary(planned, seeds=1)))


def test_an_interrupted_run_does_not_go_on_with_other_data(planned: Planner) -> None:
    """It keeps what it has, and goes on when the data are as they were."""
    run = run_of(planned, "plain")
    expected = finished(run)
    (run.folder / run_dir.RESULT).unlink()  # interrupted before its result
    train = Path(run.plan["config"]["train_data_path"])
    known = train.read_text()
    train.write_text(known + known.splitlines()[0] + "\n")
    run.prepare()
    with pytest.raises(InputError, match="has changed since this run began") as error:
        execute.execute(run.folder)
    assert str(train) in str(error.value) and str(run.folder) in str(error.value)
    failure = run_dir.read_json(run.folder / run_dir.FAILURE)
    assert failure is not None and str(train) in failure["reason"]
    assert (run.folder / "model" / "model.tar.gz").is_file()
    train.write_text(known)
    assert finished(run)["scores"] == expected["scores"]


def test_a_run_without_a_model_starts_with_the_present_data(planned: Planner) -> None:
    """It failed before its first epoch, for instance by an error in the data."""
    run = run_of(planned, "plain")
    train = Path(run.plan["config"]["train_data_path"])
    known = train.read_text()
    train.write_text("no JSON\n" + known)
    run.prepare()
    with pytest.raises(InputError):
        execute.execute(run.folder)
    train.write_text(known)
    assert finished(run)["scores"]


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
    pair = {"sentence1": "zebras zebras", "sentence2": "zebras"}
    line = json.dumps(pair | {"gold_label": "neutral"})
    train.write_text(f"{train.read_text()}{line}\n")
    finished(run)
    assert "zebras" in (model / "vocabulary" / "tokens.txt").read_text().split()


def test_runs_of_earlier_versions_have_no_inputs(planned: Planner) -> None:
    run = run_of(planned, "plain")
    result = finished(run)
    del result["inputs"]
    run_dir.write_json(run.folder / run_dir.RESULT, result)
    Path(run.plan["config"]["train_data_path"]).write_text("other")
    assert not any("changed" in remark for remark in remarks(Summary(planned, seeds=1)))


def test_an_ensemble_has_the_archives_of_its_members(tmp_path: Path) -> None:
    root = write_data_root(tmp_path / "data")
    keys = {"config": str(root / "training_config/snli.jsonnet"), "metric": "accuracy"}
    keys["changes"] = SMALLER
    together = {"of": "alone", "members": 2}
    planned = planner(
        tmp_path, [row("alone", **keys), row("votes", ensemble=together, **keys)]
    )
    for run in planned.runs([planned.table.row("votes")], 1):
        result = finished(run)
    archives = sorted(planned.home.glob("alone-*/model/model.tar.gz"))
    assert len(archives) == 2
    assert {str(file) for file in archives} < set(result["inputs"])


def test_the_tuned_bilm_of_a_run_is_one_of_its_inputs(tmp_path: Path) -> None:
    planned = planner(tmp_path, [row("elmo")])
    run = run_of(planned, "elmo")
    config = run.plan["config"]
    folder = planned.home / "tuned-123" / "model" / "exported"
    write_text(folder / "options.json", "{}")
    plan = run.plan | {"bilm_of": "123", "cached": False}
    assert str(folder) in names_of_inputs(runnable(plan, planned.home))
    assert str(folder) not in names_of_inputs(config)
    two = f"{folder}/options.json+{folder}/weights.hdf5"
    config["model"]["elmo"]["model"] = two
    assert set(two.split("+")) < set(names_of_inputs(config))


@pytest.mark.skipif(not UNREADABLE.is_file(), reason="Linux has such a file")
def test_what_cannot_be_read_has_not_changed() -> None:
    known: Inputs = {str(UNREADABLE): {"bytes": 1, "modified": 1, "sha256": ""}}
    assert changed(known) == []
