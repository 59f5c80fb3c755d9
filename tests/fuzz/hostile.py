"""Files that no reader can expect."""

import functools
import gzip
import zlib


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


def unpacked(data: bytes) -> int:
    """How many bytes a reader may take for the file: of gzip, what it unpacks to, up to a hundred times its size."""
    stream = zlib.decompressobj(wbits=31)
    try:
        return max(len(data), len(stream.decompress(data, 100 * len(data) + 1)))
    except zlib.error:
        return len(data)
