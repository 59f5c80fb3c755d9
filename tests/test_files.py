import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.system.files import (
    LOCK,
    Held,
    atomic_write,
    atomic_write_folder,
    check_output_path,
    exclusive,
    write_text,
)
from tests.disk import file_size_limit
from tests.forks import fork, kill_at_event, status_of
from tests.system import require_path


def test_two_processes_write_different_files(tmp_path: Path) -> None:
    with (
        atomic_write(tmp_path / "file") as first,
        atomic_write(tmp_path / "file") as second,
    ):
        assert first != second
        first.touch()
        second.touch()
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("name", ["é" * 127, "a.b.c", " ", "x\n", "[*]?"])
def test_any_name_of_an_output(name: str, tmp_path: Path) -> None:
    write_text(tmp_path / name, "whole")
    assert os.listdir(tmp_path) == [name]


def write_file(target: Path, text: str) -> None:
    write_text(target / "weights", text)


def write_new_folder(target: Path, text: str) -> None:
    write_file(target / "a/b", text)


def write_folder(target: Path, text: str) -> None:
    """Options and weights, without which nobody reads the options."""
    with atomic_write_folder(target, last=["weights"]) as aside:
        for name in ("options", "weights", "sub/more"):
            (aside / name).parent.mkdir(exist_ok=True)
            (aside / name).write_text(text)


@pytest.mark.parametrize("has_old", [False, True])
@pytest.mark.parametrize("write", [write_file, write_new_folder, write_folder])
def test_killed_anywhere_an_output_is_whole_or_absent(
    write: Callable[[Path, str], None], has_old: bool, tmp_path: Path
) -> None:
    """It is the old one, the new one or absent, and the next write makes it whole."""
    number = 0
    status = -signal.SIGKILL
    while status != 0:
        number += 1
        target = tmp_path / str(number) / "target"
        target.parent.mkdir()
        if has_old:
            write(target, "old")
        status = status_of(fork(partial(killed, number, write, target)))
        assert status in (0, -signal.SIGKILL)
        assert len(texts(target)) <= 1, "mixed"
        write(target, "again")
        assert texts(target) == {"again"}
    assert number > 3


@pytest.mark.parametrize("write", [write_file, write_new_folder, write_folder])
def test_a_full_disk_leaves_the_old_output(
    write: Callable[[Path, str], None], tmp_path: Path
) -> None:
    write(tmp_path, "old")
    before = sorted(tmp_path.rglob("*"))
    with (
        file_size_limit(100),
        pytest.raises(InputError, match="cannot write: File too"),
    ):
        write(tmp_path, "new" * 100)
    assert sorted(tmp_path.rglob("*")) == before
    assert {path.read_text() for path in before if path.is_file()} == {"old"}


def killed(number: int, write: Callable[[Path, str], None], target: Path) -> None:
    kill_at_event(number, target.parent)
    write(target, "new")


def texts(target: Path) -> set[str]:
    """
    The texts of the files below a folder that somebody reads: nothing without the
    weights.
    """
    files = []
    for path in target.rglob("*"):
        if path.is_file() and not any(part.endswith(".tmp") for part in path.parts):
            files.append(path)
    if "weights" not in [path.name for path in files]:
        return set()
    return {path.read_text() for path in files}


def test_links_stay_and_what_they_lead_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    (tmp_path / "folder").mkdir()
    for link, target in (
        ("link", "old"),
        ("new link", "folder/new"),
        ("folder/again", "../old"),
    ):
        (tmp_path / link).symlink_to(target)
    for name, text in (("link", "1"), ("new link", "2")):
        check_output_path(tmp_path / name)
        with atomic_write(tmp_path / name) as aside:
            aside.write_text(text)
    assert (tmp_path / "old").read_text() == "1" and (
        tmp_path / "folder/new"
    ).read_text() == "2"
    with atomic_write_folder(tmp_path / "folder") as temporary:
        (temporary / "again").write_text("3")
    assert (tmp_path / "old").read_text() == "3"
    assert all(
        (tmp_path / name).is_symlink() for name in ("link", "new link", "folder/again")
    )
    assert len(list(tmp_path.rglob("*"))) == 6


@pytest.mark.parametrize(
    ("device", "hint"),
    [(True, "/dev/stdout is the standard output"), (False, "name a file")],
)
def test_a_hyphen_is_no_output(device: bool, hint: str) -> None:
    with pytest.raises(InputError, match=f"expected the path of a file, got - .{hint}"):
        check_output_path("-", device=device)


def test_a_name_does_not_end_in_another_format() -> None:
    vectors = ("vectors", ".hdf5", ".h5")
    for name in ("v.hdf5", "v.H5", "v.txt", "v.npz.new"):
        check_output_path(name, format=vectors)
    for name in ("v.npz", "v.hdf5.gz", "v.TSV"):
        with pytest.raises(InputError, match=f"name of vectors, got {name}"):
            check_output_path(name, format=vectors)


def test_a_pipe_is_written(tmp_path: Path) -> None:
    require_path("/dev/fd")
    reading, writing = os.pipe()
    check_output_path(f"/dev/fd/{writing}", device=True)
    with atomic_write(f"/dev/fd/{writing}") as aside:
        aside.write_text("written")
    assert os.read(reading, 99) == b"written"
    os.close(reading), os.close(writing)


def test_a_folder_of_one_process(tmp_path: Path) -> None:
    """Until it is killed, another one cannot write to it, and leaves it alone."""
    folder = tmp_path / "new" / "run"
    assert not folder.exists()

    def write() -> None:
        with exclusive(folder):
            (folder / "begun").touch()
            signal.pause()

    child = fork(write)
    try:
        while not (folder / "begun").exists():
            time.sleep(0.01)
        before = sorted(folder.iterdir())
        with pytest.raises(Held) as error, exclusive(folder):
            raise AssertionError("not reached")
        assert str(error.value) == (
            f"{folder}: expected a folder that no other process writes to, got one in"
            " use (wait for the other process, or name another folder)"
        )
        assert sorted(folder.iterdir()) == before
    finally:
        os.kill(child, signal.SIGKILL)
        status_of(child)
    with exclusive(folder):
        assert folder.is_dir()


def test_processes_take_turns(tmp_path: Path) -> None:
    """No count is lost, and a lock of an earlier process is no obstacle."""
    file = tmp_path / "count"
    file.write_text("0")

    def count() -> None:
        for _ in range(20):
            with exclusive(tmp_path, wait=60):
                number = int(file.read_text())
                time.sleep(0.001)
                file.write_text(str(number + 1))

    children = [fork(count) for _ in range(3)]
    assert [status_of(child) for child in children] == [0, 0, 0]
    assert file.read_text() == "60"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        with (
            pytest.raises(InputError, match=f"^{folder}: cannot write: "),
            exclusive(folder),
        ):
            raise AssertionError("not reached")


def test_a_folder_that_cannot_be_locked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As on a file system without locks, where somebody has to see to it."""
    (tmp_path / LOCK).mkdir()
    with exclusive(tmp_path):
        (tmp_path / "written").touch()
    assert "make sure that only one process writes to it" in caplog.text
