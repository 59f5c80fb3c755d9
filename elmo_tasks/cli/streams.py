"""
The standard streams of a command: closed ones, those whose reader has ended, and those
whose encoding lacks characters.
"""

import io
import os
import sys
from contextlib import suppress


def open_closed_streams() -> None:
    """
    Gives the closed ones of stdin, stdout and stderr the null device. Otherwise the
    next file that is opened would get the number of stderr, and a library's message
    would be written into it. `sys.stdin` stays `None` if it was closed.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
            os.set_inheritable(null, True)
    if sys.stdout is None:
        sys.stdout = _outlasting(1, "utf-8", "strict")
    if sys.stderr is None:
        sys.stderr = _outlasting(2, "utf-8", "backslashreplace")


def escape_other_characters() -> None:
    """
    From now on stdout shows a character that its encoding lacks as `\\xe5`, as stderr
    always does: a terminal of ASCII, or the name of a file that is not UTF-8.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # else that of a notebook
        sys.stdout.reconfigure(errors="backslashreplace")


def outlast_readers(*, output: bool) -> None:
    """
    What is written to stderr, and with `output` to stdout, is lost from now on when its
    reader has ended, such as `head`, or its terminal was closed. The command, whose
    work goes to files, does not stop for that.
    """
    names = ["stderr"]
    if output:
        names.append("stdout")
    for name in names:
        stream = getattr(sys, name)
        if stream is getattr(sys, f"__{name}__"):  # else a test's, or a notebook's
            stream.flush()
            lasting = _outlasting(stream.fileno(), stream.encoding, stream.errors)
            setattr(sys, name, lasting)


def discard_unwritten() -> None:
    """
    What stdout still holds, and cannot be written, goes to the null device: Python
    would fail on it at its end.
    """
    try:
        sys.stdout.flush()
    except OSError:
        _discard(sys.stdout.fileno())


def _outlasting(descriptor: int, encoding: str, errors: str) -> io.TextIOWrapper:
    raw = _Outlasting(descriptor, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=True
    )


class _Outlasting(io.FileIO):
    """A stream that continues with the null device when it cannot be written."""

    def write(self, content: object) -> int:
        try:
            return super().write(content)  # type: ignore[arg-type]
        except OSError:
            _discard(self.fileno())
            return len(memoryview(content).cast("B"))  # type: ignore[arg-type]


def _discard(descriptor: int) -> None:
    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)
