import subprocess
import sys
from pathlib import Path

import pytest

from elmo_tasks.files import _descriptor, atomic_write, atomic_write_folder, check_output_path


def test_two_hosts_with_one_process_id_write_different_files(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "file") as first, atomic_write(tmp_path / "file") as second:
        assert first != second
        first.touch()
        second.touch()


def test_links_stay_and_what_they_lead_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    (tmp_path / "folder").mkdir()
    for link, target in (("link", "old"), ("new link", "folder/new"), ("folder/again", "../old")):
        (tmp_path / link).symlink_to(target)
    for name, text in (("link", "1"), ("new link", "2")):
        check_output_path(tmp_path / name)
        with atomic_write(tmp_path / name) as aside:
            aside.write_text(text)
    assert (tmp_path / "old").read_text() == "1" and (tmp_path / "folder/new").read_text() == "2"
    with atomic_write_folder(tmp_path / "folder") as temporary:
        (temporary / "again").write_text("3")
    assert (tmp_path / "old").read_text() == "3"
    assert all((tmp_path / name).is_symlink() for name in ("link", "new link", "folder/again"))
    assert len(list(tmp_path.rglob("*"))) == 6


@pytest.mark.parametrize("path", ["/dev/fd/1", "/proc/self/fd/1"])  # not /dev/stdout, which root could lose
def test_standard_output_in_a_file_or_a_pipe_is_written_in_order(path: str, tmp_path: Path) -> None:
    assert _descriptor("/dev/stdout") == 1
    code = (
        "import sys; from elmo_tasks.files import atomic_write, check_output_path as check; print('before');"
        "check(sys.argv[1], device=True)\n"
        "with atomic_write(sys.argv[1]) as aside: aside.write_text('written\\n')\n"
        "print('after')"
    )
    (tmp_path / "file").write_text("kept\n")
    with (tmp_path / "file").open("a") as out:
        subprocess.run([sys.executable, "-c", code, path], stdout=out, check=True)
    assert (tmp_path / "file").read_text() == "kept\nbefore\nwritten\nafter\n"
    piped = subprocess.run([sys.executable, "-uc", code, path], stdout=subprocess.PIPE, check=True, text=True).stdout
    assert piped == "before\nwritten\nafter\n"
