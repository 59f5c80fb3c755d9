"""
`--force` and `--recover` in folders of any kind: what no run has written stays, byte
for byte, and is named.
"""

import json
import logging
import os
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import Vocabulary
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.run_names import INPUTS, LOCK
from elmo_tasks.training.folder import exclusive, prepare
from elmo_tasks.training.run import write_archive
from elmo_tasks.training.run_folder import RunFolder
from tests.forks import killed_while_writing

CONFIG: dict[str, Any] = {
    "dataset_reader": {"type": "r"},
    "model": {"type": "m", "size": 3},
    "trainer": {"num_epochs": 2},
    "train_data_path": "a",
}
TUNING = {**CONFIG, "trainer": {"callbacks": [{"type": "elmo_tasks_tuning"}]}}
VERSION = '{"version": "2.10.1"}'
OF_A_RUN = (
    *("out.log", "out_worker0.log", "model_state_e1_b0.th", "training_state_e1_b0.th"),
    *("model_state_e1_b0.th.damaged", "best.th", "metrics.json", "curves.png"),
    *("metrics_epoch_12.json", "confusion.json", "model.tar.gz", ".torchrun"),
    *("log/train/events.out.tfevents.1", "log/validation/events.out.tfevents.1.2"),
)
NEARLY = {
    "model_state_e1_b0_mine.th": "model_state_e1_b0_mine.th",
    "best_of_all.th": "best_of_all.th",
    "metrics_epoch_12.json.old": "metrics_epoch_12.json.old",
    "out.log.1": "out.log.1",
    "model.tar.gz.sha256": "model.tar.gz.sha256",
    "old/out.log": "old",
    "log/notes.txt": "log/notes.txt",
    "log/old/x": "log/old",
    "log/train/notes.txt": "log/train/notes.txt",
    ".git/config": ".git",
    "options.json": "options.json",
    "exported/options.json": "exported",
    "vocabulary/notes.txt": "vocabulary/notes.txt",
    "vocabulary/.hidden": "vocabulary/.hidden",
    "vocabulary/tokens.txt~": "vocabulary/tokens.txt~",
    "vocabulary/old/tokens.txt": "vocabulary/old",
    "weights.hdf5": "weights.hdf5",
}
"""Files with names like those of a run, and what a warning calls them."""


def write(folder: Path, *names: str, text: str = "") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text or f"the contents of {name}")


def make_run(
    folder: Path, config: dict[str, Any] = CONFIG, *, recorded: bool = True
) -> None:
    """A run of ours, or without a record one of AllenNLP's own `train`."""
    write(folder, *OF_A_RUN)
    write(folder, "config.json", text=json.dumps(config))
    write(folder, "meta.json", text=VERSION)
    vocabulary = Vocabulary()
    for name in ("tokens", "characters", "labels", "pos_tags"):
        vocabulary.add_token_to_namespace("word", name)
    vocabulary.save_to_files(folder / "vocabulary")
    if recorded:
        RunFolder(folder).record_vocabulary(vocabulary)


def state(folder: Path) -> dict[str, bytes | str]:
    """
    The content of each file and the target of each link below a folder, but for the
    lock.
    """
    found: dict[str, bytes | str] = {}
    for parent, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(parent, name)
            below = path.relative_to(folder).as_posix()
            if path.is_symlink():
                found[below] = os.readlink(path)
            elif path.is_file() and name not in (INPUTS, LOCK):
                found[below] = path.read_bytes()
    return found


def start(folder: Path, config: dict[str, Any] = CONFIG, **options: bool) -> None:
    with exclusive(folder):
        prepare(
            folder,
            Params(json.loads(json.dumps(config))),
            recover=options.get("recover", False),
            force=options.get("force", False),
        )


def spacy_model(folder: Path) -> None:
    meta = {"lang": "en", "name": "core_web_sm", "version": "3.8.0", "pipeline": []}
    write(folder, "meta.json", text=json.dumps(meta))
    write(folder, "config.cfg", "vocab/strings.json", "ner/model", "tokenizer")


def repository(folder: Path) -> None:
    write(folder, ".git/HEAD", "README.md", "config.json", "log/app.log")


def user_data(folder: Path) -> None:
    write(folder, "config.json", text=json.dumps(CONFIG))
    write(folder, "options.json", "log/a", "vocabulary/tokens.txt", "exported/b")


def notes(folder: Path) -> None:
    write(folder, "meta.json", text='{"version": "2.10.1", "author": "Ann"}')
    write(folder, "config.json", text=json.dumps(CONFIG))
    write(folder, "out.log", "best.th")


def other_config(folder: Path) -> None:
    write(folder, "meta.json", text=VERSION)
    write(folder, "config.json", text='{"model": "yes", "trainer": "no"}')
    write(folder, "metrics.json", "log/x")


def lists(folder: Path) -> None:
    write(folder, "meta.json", text='["2.10.1"]')
    write(folder, "config.json", text="[1, 2]")
    write(folder, "metrics.json")


def not_json(folder: Path) -> None:
    write(folder, "config.json", text="key = value")


OTHERS = (spacy_model, repository, user_data, notes, other_config, lists, not_json)


@pytest.mark.parametrize("make", OTHERS)
@pytest.mark.parametrize("option", ["force", "recover", "fresh"])
def test_folder_of_something_else_is_an_error(
    make: Callable[[Path], None], option: str, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    make(folder)
    before = state(tmp_path)
    with pytest.raises(InputError, match="folder(/config.json)?: (expected|the run)"):
        start(folder, **{option: True})
    assert state(tmp_path) == before


def test_config_that_is_a_link(tmp_path: Path) -> None:
    run, config = tmp_path / "run", tmp_path / "precious.json"
    make_run(run)
    (run / "config.json").rename(config)
    (run / "config.json").symlink_to(config)
    before = state(tmp_path)
    with pytest.raises(InputError, match="run: expected an empty folder"):
        start(run, force=True)
    assert state(tmp_path) == before


@pytest.mark.parametrize("recorded", [True, False])
def test_force_removes_each_file_of_a_run(recorded: bool, tmp_path: Path) -> None:
    make_run(tmp_path, recorded=recorded)
    start(tmp_path, force=True)
    assert state(tmp_path).keys() == {"config.json", "meta.json"}
    assert not (tmp_path / "log").exists() and not (tmp_path / "vocabulary").exists()


def test_force_removes_what_a_fine_tuning_has_written(tmp_path: Path) -> None:
    written = ("options.json", "perplexities.json", "exported/options.json")
    written += ("exported/weights.hdf5", "exported/vocabulary.txt")
    make_run(tmp_path, TUNING)
    write(tmp_path, *written, "exported/mine.txt")
    start(tmp_path, force=True)
    assert state(tmp_path).keys() == {"config.json", "meta.json", "exported/mine.txt"}


@pytest.mark.parametrize("recorded", [True, False])
@given(chosen=st.sets(st.sampled_from(sorted(NEARLY))))
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_no_run_has_written_stays_and_is_named(
    recorded: bool,
    chosen: set[str],
    tmp_path_factory: pytest.TempPathFactory,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = tmp_path_factory.mktemp("run")
    make_run(folder, recorded=recorded)
    write(folder, *chosen)
    before = state(folder)
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        start(folder, force=True)
    after = state(folder)
    kept = {name: before[name] for name in chosen}
    own = {"config.json", "meta.json", "vocabulary/.files.json"}
    assert {name: text for name, text in after.items() if name not in own} == kept
    lines = [line for line in caplog.messages if "kept what is not" in line]
    assert len(lines) == bool(chosen) and "\n" not in "".join(lines)
    shown = ", ".join(sorted({NEARLY[name] for name in chosen})[:10])
    assert not chosen or f": {shown}" in lines[0]


def test_changed_and_added_files_of_the_vocabulary_stay(tmp_path: Path) -> None:
    make_run(tmp_path)
    (tmp_path / "vocabulary" / "labels.txt").write_text("corrected by hand")
    write(tmp_path, "vocabulary/my_tags.txt", text="@@UNKNOWN@@\nword\n")
    start(tmp_path, force=True)
    assert [path.name for path in RunFolder(tmp_path).vocabulary()] == []
    assert state(tmp_path).keys() >= {
        "vocabulary/labels.txt",
        "vocabulary/my_tags.txt",
    }


def test_vocabulary_of_a_run_without_what_was_there_before(tmp_path: Path) -> None:
    make_run(tmp_path)
    write(tmp_path, "vocabulary/notes.txt")
    start(tmp_path, force=True)
    vocabulary = Vocabulary()
    vocabulary.add_token_to_namespace("word", "tokens")
    vocabulary.save_to_files(tmp_path / "vocabulary")
    run = RunFolder(tmp_path)
    assert run.not_of_vocabulary() == ["notes.txt"] and not run.has_vocabulary()
    run.record_vocabulary(vocabulary)
    names = {path.name for path in run.vocabulary()}
    assert names == {"non_padded_namespaces.txt", "tokens.txt"}
    start(tmp_path, recover=True)
    assert {path.name for path in run.vocabulary()} == names


def test_damaged_record_of_the_vocabulary(tmp_path: Path) -> None:
    make_run(tmp_path)
    record = {"before": [["notes.txt"]], "written": {}}
    write(tmp_path, "vocabulary/.files.json", text=json.dumps(record))
    names = {path.name for path in RunFolder(tmp_path).vocabulary()}
    assert {"tokens.txt", "labels.txt"} <= names


def test_archive_includes_what_was_there_before_it(tmp_path: Path) -> None:
    make_run(tmp_path, recorded=False)
    archive = write_archive(tmp_path, {"include_in_archive": ["vocabulary/*"]})
    with tarfile.open(archive) as file:
        names = file.getnames()
    assert "vocabulary/tokens.txt" in names
    assert "vocabulary/.files.json" not in names


@pytest.mark.parametrize(
    "name", ["model_state_e9_b0.th/mine", "best.th/mine", "model.tar.gz/mine", "log"]
)
def test_what_would_be_in_the_way_of_the_next_run(name: str, tmp_path: Path) -> None:
    make_run(tmp_path)
    top = tmp_path / name.partition("/")[0]
    if top.is_dir():
        os.rename(top, tmp_path / "moved")
    top.unlink(missing_ok=True)
    write(tmp_path, name)
    before = state(tmp_path)
    problem = f"expected files and folders of a run, got {top.name} "
    with pytest.raises(InputError, match=re.escape(problem)):
        start(tmp_path, force=True)
    assert state(tmp_path) == before


LINKED = ("log", "vocabulary", "exported", "best.th", "out.log", "model.tar.gz")
LINKED += ("vocabulary/tokens.txt", "log/train", "log/train/events.out.tfevents.1")
LINKED += ("log/mine", "vocabulary/mine.txt", "data", "exported/options.json")


@pytest.mark.parametrize("config", [CONFIG, TUNING])
@pytest.mark.parametrize("name", LINKED)
def test_links_are_not_followed(
    name: str, config: dict[str, Any], tmp_path: Path
) -> None:
    """
    A link of a run's name is removed, since the next run would write through it; others
    stay.
    """
    run, outside = tmp_path / "run", tmp_path / "outside"
    make_run(run, config)
    write(run, "exported/options.json", "options.json")
    write(outside, "options.json", "train/events.out.tfevents.1", "tokens.txt")
    write(outside, ".files.json", ".lock", "labels.txt", "events.out.tfevents.9")
    link = run / name
    if link.is_dir():
        os.rename(link, tmp_path / "moved")
    link.unlink(missing_ok=True)
    link.symlink_to(outside)
    before = state(outside)
    start(run, config, force=True)
    assert state(outside) == before
    stays = name.endswith(("mine", "mine.txt", "data"))
    stays |= name.startswith("exported") and config is CONFIG
    assert link.is_symlink() == stays


def test_loops_of_links(tmp_path: Path) -> None:
    make_run(tmp_path)
    (tmp_path / "log" / "loop").symlink_to(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    start(tmp_path, force=True)
    assert (tmp_path / "log" / "loop").is_symlink() and (tmp_path / "loop").is_symlink()


@pytest.mark.parametrize("option", ["force", "recover", "fresh"])
def test_run_that_was_killed_before_its_config_was_written(
    option: str, tmp_path: Path
) -> None:
    killed_while_writing(tmp_path / "config.json")
    write(tmp_path, "meta.json", text=VERSION)
    start(tmp_path, **{option: True})
    assert json.loads((tmp_path / "config.json").read_text()) == CONFIG
    assert state(tmp_path).keys() == {"config.json", "meta.json"}


@pytest.mark.parametrize("bytes_kept", [0, 1, 40])
def test_config_of_which_a_part_was_written(bytes_kept: int, tmp_path: Path) -> None:
    whole = json.dumps(Params(CONFIG).as_ordered_dict(), indent=4)
    write(tmp_path, "config.json")
    (tmp_path / "config.json").write_text(whole[:bytes_kept])
    start(tmp_path, recover=True)
    assert json.loads((tmp_path / "config.json").read_text()) == CONFIG


def test_recover_leaves_the_bytes_of_the_config(tmp_path: Path) -> None:
    make_run(tmp_path)
    text = json.dumps(CONFIG, indent=1) + "\n"
    write(tmp_path, "config.json", text=text)
    start(tmp_path, recover=True)
    assert (tmp_path / "config.json").read_text() == text


def test_many_names_are_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make_run(tmp_path)
    write(tmp_path, *(f"note {number}\n" for number in range(30)))
    start(tmp_path, force=True)
    (line,) = [line for line in caplog.messages if "kept what is not" in line]
    assert line.count("note") == 10 and line.endswith(" and 20 more")
    assert "\n" not in line
