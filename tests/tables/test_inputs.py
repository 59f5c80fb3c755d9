"""What runs have read, and whether it has changed since."""

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import execute, run_dir
from elmo_tasks.experiments.tables.runs import Planner, Run
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.system.run_names import ARCHIVE, INPUTS
from elmo_tasks.training.checks.files import input_names
from elmo_tasks.training.inputs import changed, described, inputs_in
from tests.system import require_path
from tests.tables.tables import planner, row
from tests.tiny import write_data_root

SMALLER = {
    "model.encoder.hidden_sizes": [4],
    "model.composition.hidden_sizes": [4],
    "model.hidden_size": 4,
    "trainer.num_epochs": 1,
}


def write_text(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def config_with(key: str, value: str) -> dict[str, Any]:
    config: Any = value
    for part in reversed(key.split(".")):
        config = {part: config}
    return dict(config)


def exchange(file: Path, text: str) -> None:
    """Another file of the same size and date takes its place."""
    status = file.stat()
    file.unlink()
    write_text(file, text)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (
        status.st_size,
        status.st_mtime_ns,
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda file: None, False),
        (lambda file: write_text(file, "one two"), False),
        (lambda file: os.utime(file, (1, 1)), False),
        (lambda file: write_text(file, "one two three"), True),
        (lambda file: write_text(file, "one owt"), True),
        (lambda file: exchange(file, "one owt"), True),
        (lambda file: file.unlink(), False),  # nobody can tell
        (lambda file: (file.unlink(), file.symlink_to(file)), False),
    ],
    ids=["nothing", "again", "date", "longer", "other", "same date", "gone", "loop"],
)
@pytest.mark.parametrize("name", ["text.txt", "", "*.txt"])
def test_a_file_has_changed(
    name: str, change: Any, expected: bool, tmp_path: Path
) -> None:
    file = write_text(tmp_path / "data" / "text.txt", "one two")
    path = os.path.join(tmp_path, "data", name).rstrip("/")
    known = described([path])
    assert known == {path: hashlib.sha256(b"one two").hexdigest()}
    change(file)
    assert changed(known) == ([path] if expected else [])


def test_a_link_to_another_file_of_the_same_size(tmp_path: Path) -> None:
    one, two = [write_text(tmp_path / name, name) for name in ("a", "b")]
    link = tmp_path / "link"
    link.symlink_to(one)
    known = described([str(link)])
    link.unlink()
    link.symlink_to(two)
    assert changed(known) == [str(link)]


def test_a_folder_has_changed(tmp_path: Path) -> None:
    """
    Another file in it, another name, or the texts of two files exchanged; not by a
    hidden file, such as the lock that AllenNLP makes in the folder of a vocabulary.
    """
    folder = tmp_path / "data"
    for name in ("a", "b/c"):
        write_text(folder / name, name[0])
    known = described([str(folder)])
    write_text(folder / ".lock", "")
    write_text(folder / ".git" / "index", "")
    assert changed(known) == []
    extra = write_text(folder / "b" / "extra", "")
    assert changed(known) == [str(folder)]
    extra.unlink()
    assert changed(known) == []
    (folder / "a").rename(folder / "d")
    assert changed(known) == [str(folder)]
    write_text(folder / "d", "b").rename(folder / "a")
    write_text(folder / "b" / "c", "a")
    assert changed(known) == [str(folder)]


def test_of_a_folder_of_ontonotes_only_its_files_count(tmp_path: Path) -> None:
    file = write_text(tmp_path / "nw" / "wsj.v4_gold_conll", "#begin")
    known = described([str(tmp_path)])
    write_text(tmp_path / "README", "of the corpus")
    assert changed(known) == []
    file.write_text("#end")
    assert changed(known) == [str(tmp_path)]


def test_what_cannot_be_read_has_not_changed(tmp_path: Path) -> None:
    unreadable = "/proc/self/mem"  # its first bytes belong to nothing
    require_path(unreadable)
    (tmp_path / "private").symlink_to(unreadable)
    write_text(tmp_path / "text", "one")
    known = described([str(tmp_path), unreadable])
    assert changed(known) == []
    write_text(tmp_path / "text", "two")
    assert changed(known) == [str(tmp_path)]


@pytest.mark.parametrize("name", ["a" * 5000, "a\0b", "\udcff", "[", "**"])
def test_names_of_nothing(name: str, tmp_path: Path) -> None:
    assert changed({f"{tmp_path}/{name}": "0"}) == []


@pytest.mark.parametrize(
    "name",
    [
        "{root}/a.zip!member.txt",
        "({root}/a.zip)#member.txt",
        "file://{root}/a.zip",
        "{root}/b.txt, {root}/a.zip",
        "~/a.zip",
        "a.zip",
        "(old)/a.zip",
    ],
)
@pytest.mark.parametrize("key", ["train_data_path", "model.text.pretrained_file"])
def test_forms_of_a_name(
    name: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Seen from the current folder, as by a run: that of a copied project may have other
    data under the same name.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for file in ("a.zip", "(old)/a.zip", "copy/a.zip", "copy/(old)/a.zip"):
        write_text(tmp_path / file, "a")
    known = described(input_names(config_with(key, name.format(root=tmp_path))))
    assert len(known) == 1
    write_text(tmp_path / "copy" / name, "other")
    assert changed(known) == []
    monkeypatch.chdir(tmp_path / "copy")
    assert bool(changed(known)) == (name in ("a.zip", "(old)/a.zip"))
    monkeypatch.chdir(tmp_path)
    write_text(tmp_path / "a.zip", "other")
    write_text(tmp_path / "(old)" / "a.zip", "other")
    assert changed(known) == list(known)


@pytest.mark.parametrize("name", ["https://a.org/b.txt", "(https://a.org/b.zip)#c", ""])
def test_what_is_not_on_this_machine(name: str) -> None:
    assert described(input_names({"train_data_path": name})) == {}


@pytest.mark.parametrize(
    "key",
    [
        "model.elmo.model",
        "model.bilm",
        "model.text_field_embedder.token_embedders.elmo.model",
    ],
)
@pytest.mark.parametrize(
    "name",
    [
        "{root}/c++/m",
        "{root}/c++/m/options.json+{root}/c++/m/weights.hdf5",
        "~/c++/m",
        "~/c++/m/options.json+~/c++/m/weights.hdf5",
    ],
)
def test_the_files_of_a_model(
    key: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "c++" / "m"
    files = [
        write_text(folder / name, name) for name in ("options.json", "weights.hdf5")
    ]
    config = config_with(key, name.format(root=tmp_path))
    known = described(input_names(config))
    named = {Path(path).expanduser() for path in known}
    assert named == (set(files) if name.endswith(".hdf5") else {folder})
    write_text(files[1], "other")
    assert len(changed(known)) == 1
    write_text(files[1], "weights.hdf5")
    assert changed(known) == []
    write_text(folder / "model.safetensors", "")  # a transformer reads it first
    assert len(changed(known)) == (1 if named == {folder} else 0)


def test_the_bundled_bilm_by_its_name() -> None:
    config = {"model": {"elmo": {"model": "bundled"}}}
    assert input_names(config) == [str(path) for path in embedded_bilm()]


@pytest.mark.parametrize(
    "value", [None, [], "text", {"a": None}, {"a": {}}, {"a": {"bytes": 1}}, {"a": 1}]
)
def test_a_damaged_record_says_nothing(value: Any) -> None:
    assert inputs_in(value) == {}


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
    assert data | bilm < set(inputs)
    assert any("w2v" in name or "glove" in name for name in inputs)
    assert all(Path(name).is_file() for name in inputs)
    assert not any(name.startswith(str(planned.home)) for name in inputs)


def test_an_interrupted_run_does_not_go_on_with_other_data(planned: Planner) -> None:
    """Its folder stays, and it resumes once the data are restored."""
    run = run_of(planned, "plain")
    expected = finished(run)
    (run.folder / run_dir.RESULT).unlink()  # interrupted before its result
    train = Path(run.plan["config"]["train_data_path"])
    known = train.read_text()
    train.write_text(known + known.splitlines()[0] + "\n")
    run.prepare()
    with pytest.raises(InputError, match="has changed since this run began") as error:
        execute.execute(run.folder)
    assert "--allow-changed-files" in str(error.value)
    assert str(train) in str(error.value) and str(run.folder) in str(error.value)
    assert (run.folder / "model" / "model.tar.gz").is_file()
    train.write_text(known)
    assert finished(run)["scores"] == expected["scores"]


def test_a_training_that_starts_over_records_what_it_reads(planned: Planner) -> None:
    """It has no checkpoint: those of a finished run are removed."""
    run = run_of(planned, "plain")
    expected = finished(run)["inputs"]
    (run.folder / run_dir.RESULT).unlink()
    (run.folder / "model" / INPUTS).unlink()
    assert finished(run)["inputs"] == expected


def test_a_run_that_failed_is_described_when_it_begins_again(planned: Planner) -> None:
    """Its training data were wrong, its development data missing."""
    run = run_of(planned, "plain")
    config = run.plan["config"]
    train, dev = [
        Path(config[f"{split}_data_path"]) for split in ("train", "validation")
    ]
    known = train.read_text()
    train.write_text("no JSON\n" + known)
    dev.rename(dev.with_suffix(".away"))
    run.prepare()
    with pytest.raises(InputError):
        execute.execute(run.folder)
    train.write_text(known)
    dev.with_suffix(".away").rename(dev)
    inputs = finished(run)["inputs"]
    assert inputs == described(inputs) and {str(train), str(dev)} <= set(inputs)


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


def test_runs_that_need_others_have_their_inputs(tmp_path: Path) -> None:
    root = write_data_root(tmp_path / "data")
    keys: dict[str, Any] = {"metric": "accuracy", "changes": SMALLER}
    keys["config"] = str(root / "training_config/snli.jsonnet")
    together = {"of": "alone", "members": 2}
    scored = root / "snli" / "scored.jsonl"
    shutil.copy(root / "snli" / "snli_1.0_train.jsonl", scored)
    rows = [row("alone", **keys), row("votes", ensemble=together, **keys)]
    rows[1] |= {"split": "test", "file": str(scored)}
    planned = planner(tmp_path, rows)
    for run in planned.runs([planned.table.row("votes")], 1):
        result = finished(run)
    train = Path(result["config"]["train_data_path"])
    assert {str(train), str(scored)} < set(result["inputs"])


def test_a_row_with_a_file_and_test_data_reads_both(tmp_path: Path) -> None:
    """Of the test data, the vocabulary."""
    root = write_data_root(tmp_path / "data")
    known = root / "snli" / "snli_1.0_train.jsonl"
    scored, test = [shutil.copy(known, tmp_path / name) for name in ("a", "b")]
    changes = SMALLER | {"test_data_path": str(test)}
    one = row("one", metric="accuracy", split="test", file=str(scored))
    one["config"] = str(root / "training_config/snli.jsonnet")
    planned = planner(tmp_path, [one | {"changes": changes}])
    assert {str(scored), str(test)} < set(finished(run_of(planned, "one"))["inputs"])
