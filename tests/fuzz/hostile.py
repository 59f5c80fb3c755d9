"""Large files that are not what any reader expects."""

import functools
import gzip
import zlib

import pyarrow


def hostile(sample: bytes, size: int) -> dict[str, bytes]:
    """Files of this size, or compressed from forty times as much, by content."""
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
        "one line, zstd": pyarrow.compress(40 * line, codec="zstd", asbytes=True),
        "lines, packed": gzip.compress(40 * lines, 1),
    }


def unpacked(data: bytes) -> int:
    """The size of a file, of gzip after unpacking, up to a hundred times its own."""
    stream = zlib.decompressobj(wbits=31)
    try:
        return max(len(data), len(stream.decompress(data, 100 * len(data) + 1)))
    except zlib.error:
        return len(data)
