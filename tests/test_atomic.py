from pathlib import Path

from elmo_tasks.atomic import atomic_write


def test_two_hosts_with_one_process_id_write_different_files(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "file") as first, atomic_write(tmp_path / "file") as second:
        assert first != second
        first.touch()
        second.touch()
