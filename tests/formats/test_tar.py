"""Members of tar files that are written."""

import tarfile

from elmo_tasks.training.run import without_owner


def test_owners_are_left_out() -> None:
    info = tarfile.TarInfo("a")
    info.uid = info.gid = 1000
    info.uname = info.gname = "ann"
    info.mode = 0o600
    found = without_owner(info)
    assert (found.uid, found.gid, found.uname, found.gname) == (0, 0, "", "")
    assert (found.name, found.mode) == ("a", 0o600)
