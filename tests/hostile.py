"""Hostile archives, and a process in which reading one has bounds."""

import json
import os
import resource
import signal
import traceback
from collections.abc import Callable
from pathlib import Path

from elmo_tasks.errors import one_line
from tests.system import require_path

SECONDS = 10
MEMORY = 500 * 10**6
"""What reading an archive of 1 MB may take, beyond what the process had before."""


def outcome(read: Callable[[], object], *, reserved: int = MEMORY) -> str | None:
    """
    The message of the error that `read` raises, `None` if it raises none, in a process
    of its own that is killed when it takes more time or memory than the bounds. It may
    ask for `reserved` bytes of memory that it does not use. Raises `AssertionError` for
    another end.
    """
    require_path("/proc/self/clear_refs")
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(receiving)
            _bound(reserved)
            before = _memory("VmRSS")
            try:
                read()
                message: str | None = None
            except BaseException as error:
                message = one_line(error) if isinstance(error, Exception) else None
                if message is None:
                    trace = "".join(traceback.format_exception(error))
                    message = f"TRACEBACK {trace[-1500:]}"
            found = {"message": message, "grown": _memory("VmHWM") - before}
            os.write(sending, json.dumps(found).encode()[:30_000])
            status = 0
        finally:
            os._exit(status)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        sent = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, f"ended with the status {status}"
    report = json.loads(sent)
    message = report["message"]
    assert report["grown"] < MEMORY, f"took {report['grown']:,} bytes"
    assert message is None or not message.startswith("TRACEBACK"), message
    assert message is None or len(message) < 2000 and message.count("\n") < 20, message
    return message


def _memory(name: str) -> int:
    """A number of bytes of this process."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def _bound(reserved: int) -> None:
    """Limits the time and the memory of this process."""
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins here
    limit = _memory("VmData") + reserved
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(6 * SECONDS)  # for what waits: other processes may take the processor


def header(
    name: bytes = b"x", size: int | bytes = 0, kind: bytes = b"0", **fields: bytes
) -> bytes:
    """A block of a tar file with a valid checksum."""
    block = bytearray(512)
    block[: min(100, len(name))] = name[:100]
    block[100:124] = b"0000644\0" + b"0000000\0" * 2
    block[124:136] = size if isinstance(size, bytes) else b"%011o\0" % size
    block[136:148] = b"00000000000\0"
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def member(name: bytes, content: bytes, kind: bytes = b"0") -> bytes:
    return header(name, len(content), kind) + content + bytes(-len(content) % 512)


def negative(size: int) -> bytes:
    """A size in base 256, which can be negative and of any length."""
    return (size % 256**12 | 128 << 88).to_bytes(12, "big")
