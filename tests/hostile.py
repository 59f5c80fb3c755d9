"""Files that no reader can expect, and how much memory the process takes for them."""

import ctypes
import functools
import gc
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def hostile(sample: bytes, size: int) -> dict[str, bytes]:
    """Files of some size, or packed ones of forty times as much, by what they hold."""
    again = sample * (size // len(sample) + 1)
    return _unlike(size) | {"the sample again": again, "the sample again, packed": gzip.compress(40 * again, 1)}


@functools.cache
def _unlike(size: int) -> dict[str, bytes]:
    line, lines = b"x" * size, b"ab cd ef gh ij kl mn op qr st\n" * (size // 30)
    return {
        "one line": line,
        "one line of words": b"ab " * (size // 3),
        "digits": b"9" * size,
        "lists": b"[" + b"[]," * (size // 3) + b"[]]",
        "deep lists": b"[" * size,
        "brackets": b"(" * size,
        "lines": lines,
        "one line, packed": gzip.compress(40 * line, 1),
        "lines, packed": gzip.compress(40 * lines, 1),
    }


@contextmanager
def grown() -> Iterator[list[float]]:
    """Gives a list to which the end adds by how many bytes the process has grown at most; on Linux alone."""
    found: list[float] = []
    Path("/proc/self/clear_refs").write_text("5")
    before = _kilobytes("VmRSS")
    yield found
    found.append((_kilobytes("VmHWM") - before) * 1024)


def release() -> None:
    """Gives back what the process no longer needs, so that `grown` sees what is taken afresh."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def unpacked(data: bytes) -> int:
    """How many bytes a reader may take for the file: of gzip, what it unpacks to, up to a hundred times its size."""
    stream = zlib.decompressobj(wbits=31)
    try:
        return max(len(data), len(stream.decompress(data, 100 * len(data) + 1)))
    except zlib.error:
        return len(data)


def _kilobytes(name: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1])
