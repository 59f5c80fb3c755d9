"""Members of tar files that are written."""

import tarfile


def without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """
    A member to be written, without the name and number of the user and the group; a
    filter of `TarFile.add`.
    """
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
