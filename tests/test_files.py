import os
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write, atomic_write_folder, check_output_path
from tests.system import require_path


def test_two_hosts_with_one_process_id_write_different_files(tmp_path: Path) -> None:
    with (
        atomic_write(tmp_path / "file") as first,
        atomic_write(tmp_path / "file") as second,
    ):
        assert first != second
        first.touch()
        second.touch()


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


def test_a_pipe_is_written(tmp_path: Path) -> None:
    require_path("/dev/fd")
    reading, writing = os.pipe()
    check_output_path(f"/dev/fd/{writing}", device=True)
    with atomic_write(f"/dev/fd/{writing}") as aside:
        aside.write_text("written")
    assert os.read(reading, 99) == b"written"
    os.close(reading), os.close(writing)
