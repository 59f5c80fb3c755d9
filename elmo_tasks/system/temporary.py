"""
Temporary files beside an output. Their names say which process writes them, so that
those of a killed one can be found.

A name has the host, the id and the start of the process: an id alone is used again, and
says nothing on shared storage.
"""

import hashlib
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_WRITER = re.compile(
    r"[0-9a-f]{8}\.(?P<host>[0-9a-f]{8})\.(?P<id>[0-9]+)\.(?P<start>[0-9a-f]{8}|0)\.tmp"
)
_LONGEST = 150  # bytes of the output's name; a file's name has at most 255
_UNKNOWN = "0"  # the start of a process, where the system does not tell it


def temporary_path(target: Path) -> Path:
    """A new hidden name in the folder of `target`."""
    process = os.getpid()
    unique = secrets.token_hex(4)
    writer = f"{unique}.{_this_host()}.{process}.{_own_start(process)}"
    return target.parent / f"{_prefix(target.name)}{writer}.tmp"


def leftovers(folder: str | Path, name: str | None = None) -> list[Path]:
    """
    The temporary files and folders in a folder, of the output `name` or of any, whose
    process was on this host and has ended. Those of another host, or from before a
    restart, are not among them: they may be written now.
    """
    found = []
    for path, writer in _temporary(Path(folder), name):
        if writer["host"] != _this_host():
            continue
        if not _is_running(int(writer["id"]), writer["start"]):
            found.append(path)
    return found


def of_other_hosts(folder: str | Path, name: str) -> list[Path]:
    """
    The temporary files of the output `name` of which this host cannot tell whether they
    are being written.
    """
    found = _temporary(Path(folder), name)
    return [path for path, writer in found if writer["host"] != _this_host()]


def remove_leftovers(folder: str | Path, name: str | None = None) -> None:
    """Removes what `leftovers` finds, as far as it can be removed."""
    for path in leftovers(folder, name):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _temporary(folder: Path, name: str | None) -> Iterator[tuple[Path, dict[str, str]]]:
    """
    The temporary files in a folder, each with the parts of its name that identify the
    process.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for one in names:
        prefix, writer = _split(one)
        path = folder / one
        if writer is None or path.is_symlink():
            continue
        if name is None or prefix == _prefix(name):
            yield path, writer.groupdict()


def _split(name: str) -> tuple[str, re.Match[str] | None]:
    """The prefix of a temporary file, and what follows it."""
    parts = name.rsplit(".", 5)
    if len(parts) < 6 or not parts[0].startswith("."):
        return "", None
    return f"{parts[0]}.", _WRITER.fullmatch(".".join(parts[1:]))


def _prefix(name: str) -> str:
    encoded = os.fsencode(name)
    if len(encoded) > _LONGEST:
        name = hashlib.sha256(encoded).hexdigest()[:32]
    return f".{name}."


def _this_host() -> str:
    """
    The host since its start, and the processes that are seen here. Containers can have
    the name of their host, and two hosts of a cluster can have one name; then the ids
    of the one's processes mean nothing to the other.
    """
    boot = namespace = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    with suppress(OSError):
        namespace = os.readlink("/proc/self/ns/pid")
    return _digest(f"{socket.gethostname()} {boot} {namespace}")


def _is_running(process: int, start: str) -> bool:
    """
    Whether the process of this id and start runs; also if the system does not tell.
    """
    if sys.platform == "win32":  # where `os.kill` would end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        pass
    found = _start(process)
    return _UNKNOWN in (start, found) or found == start


@lru_cache(1)
def _own_start(process: int) -> str:
    """The start of this process, whose id is `process`: a fork has another."""
    return _start(process)


def _start(process: int) -> str:
    """
    When a process started; empty if it has ended, and its parent does not know yet;
    `_UNKNOWN` if nothing tells.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        state, start = fields[0].decode(), fields[19].decode()
    except (OSError, IndexError):
        state, _, start = _status(process).partition(" ")
    if not start.strip():
        return _UNKNOWN
    if state[0] in "ZX":
        return ""
    return _digest(start.strip())


def _status(process: int) -> str:
    """State and start of a process where there is no `/proc`, as on macOS."""
    command = ["ps", "-o", "stat=", "-o", "lstart=", "-p", str(process)]
    variables = os.environ | {"LC_ALL": "C", "TZ": "UTC"}
    try:
        return subprocess.run(
            command, env=variables, capture_output=True, text=True, timeout=10
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:8]
