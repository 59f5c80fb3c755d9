"""
Temporary files: the next write of an output removes those of killed processes of this
host, and no others.
"""

import logging
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.system.files import atomic_write, atomic_write_folder, write_text
from elmo_tasks.system.temporary import leftovers, temporary_path
from tests.forks import killed_while_writing, temporary, writing


def on_host(name: str) -> Callable[[], None]:
    """For a fork: has it see another name of its host."""

    def rename() -> None:
        socket.gethostname = lambda: name

    return rename


def renamed(path: Path, part: int, text: str) -> Path:
    """
    With another part of the writer's identity in its name: -4 the host, -3 the process,
    -2 its start.
    """
    parts = path.name.split(".")
    parts[part] = text
    return path.rename(path.with_name(".".join(parts)))


def test_the_next_write_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    left = killed_while_writing(tmp_path / "out.hdf5")
    others = [
        killed_while_writing(tmp_path / name)
        for name in ("out", "hdf5", "out.hdf5.txt", ".out.hdf5", "x.out.hdf5")
    ]
    assert left.read_text() == "half"
    write_text(tmp_path / "out.hdf5", "whole")
    assert temporary(tmp_path) == sorted(others)
    assert (tmp_path / "out.hdf5").read_text() == "whole"


def test_files_of_living_processes_stay(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with writing(target) as aside, atomic_write(target) as own:
        own.write_text("own")
        write_text(target, "whole")
        assert {aside, own} == set(temporary(tmp_path))
    write_text(target, "whole")
    assert temporary(tmp_path) == []


def test_a_killed_process_that_its_parent_has_not_waited_for(tmp_path: Path) -> None:
    killed_while_writing(tmp_path / "out", reap=False)
    write_text(tmp_path / "out", "whole")
    assert temporary(tmp_path) == []
    os.wait()


def test_an_id_that_another_process_has_by_now(tmp_path: Path) -> None:
    left = killed_while_writing(tmp_path / "out")
    renamed(left, -3, str(os.getppid()))
    renamed(killed_while_writing(tmp_path / "out"), -3, str(2**70))
    write_text(tmp_path / "out", "whole")
    assert temporary(tmp_path) == []


def test_an_id_whose_start_is_unknown(tmp_path: Path) -> None:
    left = killed_while_writing(tmp_path / "out")
    kept = renamed(renamed(left, -3, str(os.getppid())), -2, "0")
    write_text(tmp_path / "out", "whole")
    assert temporary(tmp_path) == [kept]


def test_files_of_another_host_stay_and_are_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    target = tmp_path / "out"
    dead = killed_while_writing(target, prepare=on_host("one"))
    with (
        writing(target, on_host("other")) as aside,
        caplog.at_level(logging.WARNING),
    ):
        write_text(target, "whole")
        write_text(target, "whole")
        assert {dead, aside} == set(temporary(tmp_path))
    for path in (dead, aside):
        assert caplog.text.count(path.name) == 1


def test_folders(tmp_path: Path) -> None:
    target = tmp_path / "model"

    def left_folder() -> Path:
        left = killed_while_writing(target)
        left.unlink()
        (left / "part").mkdir(parents=True)
        (left / "elsewhere").symlink_to(tmp_path / "precious")
        return left

    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    for _ in range(2):  # without, and with the target
        left_folder()
        with atomic_write_folder(target) as aside:
            (aside / "file").write_text("whole")
        assert temporary(tmp_path) == []
    assert (tmp_path / "precious" / "file").exists()
    assert (target / "file").read_text() == "whole"


SIMILAR: dict[str, Callable[[str], str]] = {
    "not hidden": lambda name: name.removeprefix("."),
    "a backup": lambda name: f"{name}~",
    "another suffix": lambda name: name.replace(".tmp", ".temp"),
    "capitals": str.upper,
    "one dot more": lambda name: name.replace("out", "out."),
    "no start": lambda name: re.sub("[^.]+.tmp$", ".tmp", name),
    "two parts less": lambda name: ".out." + name.split(".", 4)[4],
}


@pytest.mark.parametrize("kind", SIMILAR)
def test_similar_names_of_other_files_stay(kind: str, tmp_path: Path) -> None:
    left = killed_while_writing(tmp_path / "out")
    other = left.rename(left.with_name(SIMILAR[kind](left.name)))
    write_text(tmp_path / "out", "whole")
    assert other.exists() and other.name != left.name


def test_a_link_with_such_a_name_stays(tmp_path: Path) -> None:
    left = killed_while_writing(tmp_path / "out")
    left.unlink()
    left.symlink_to(tmp_path / "precious")
    write_text(tmp_path / "out", "whole")
    assert left.is_symlink()


@given(st.text(st.characters(exclude_characters="\0/", codec="utf-8"), min_size=1))
def test_any_name_of_an_output(name: str) -> None:
    """
    The name of the temporary file is its own, hidden, and short enough for a file
    system.
    """
    if len(name.encode()) > 255 or name in (".", ".."):
        return
    first, second = (temporary_path(Path("/folder", name)) for _ in range(2))
    assert first != second and first.parent == Path("/folder")
    assert first.name.startswith(".") and len(first.name.encode()) < 256


@pytest.mark.parametrize("name", ["é" * 127, "a.b.c", " ", "x\n", "[*]?"])
def test_unusual_names(name: str, tmp_path: Path) -> None:
    killed_while_writing(tmp_path / name)
    write_text(tmp_path / name, "whole")
    assert os.listdir(tmp_path) == [name]


def test_leftovers_of_a_folder(tmp_path: Path) -> None:
    found = [killed_while_writing(tmp_path / name) for name in ("a", "b")]
    killed_while_writing(tmp_path / "c", prepare=on_host("one"))
    assert leftovers(tmp_path) == sorted(found)
    assert leftovers(tmp_path / "missing") == []


def test_a_fork_has_a_start_of_its_own(tmp_path: Path) -> None:
    own = temporary_path(tmp_path / "out").name.split(".")
    left = killed_while_writing(tmp_path / "out").name.split(".")
    assert own[-4] == left[-4] and own[-3] != left[-3]
    assert re.fullmatch("[0-9a-f]{8}", left[-2]), "this system tells it"
