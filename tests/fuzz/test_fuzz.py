"""
Every reader and loader reads any bytes or raises one clear error, quickly and with
little memory.
"""

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo_tasks.errors import InputError, one_line
from tests.fuzz.subjects import NAMES, Subject, subjects
from tests.memory import grown, release

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("FUZZ_COUNT", 60))
"""Damaged files for each subject; a tenth for archives."""

LARGE = int(os.environ.get("FUZZ_BYTES", 60_000))
"""The size of the files that no reader expects."""

BLANKS = b"\xc2\xa0|\xe2\x80\xa8|\0|\xff|\r|\r\n|\t| |\n|\n\n|\x1c|\xc2\x85|".split(
    b"|"
)
MARKS = [bytes([character]) for character in b"()\"'{}[]<>&*-|/\\,:#"]
PIECES = (
    BLANKS
    + MARKS
    + [
        b"(1",
        b"1)",
        b"(V*",
        b"NaN",
        b"-1",
        b"0",
        b"1e400",
        b"null",
        b"true",
        b'""',
        b"[]",
        b"{}",
        b"9" * 5000,
        b"\xc2\xb2",
        b"\xd9\xa3",
        b"\\ud800",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"x" * 10_000,
        b"\xef\xbb\xbf",
        b"@@UNKNOWN@@",
        b"-DOCSTART-",
        b"#begin document (x)\n",
        b"#end document\n",
        b"B-",
        b"I-PER",
        b"<!ENTITY a 'b'>",
    ]
)
VALUES: list[Any] = [None, True, False, 0, -1, 1, 3.5, float("nan"), 10**30]
VALUES += ["", " ", "\u00a0", "\u200b", "\ud800", "x" * 3000]
VALUES += [[], {}, [[]], [None], ["a"], {"a": 1}, "²", "-", "A " * 50, "neutral"]


@st.composite
def damaged(draw: st.DrawFn, sample: bytes) -> bytes:
    """
    The sample with pieces replaced or inserted, the end cut off, other line ends or
    JSON values, or as gzip.
    """
    data = sample
    if sample[:1] in b"{[" and draw(st.booleans()):
        data = _with_other_value(draw, sample)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.just(len(data)) | st.integers(start, min(len(data), start + 40)))
        piece = draw(st.sampled_from(PIECES + [data[start:end] * 2]))
        data = data[:start] + piece + data[end:]
    line_end = draw(st.sampled_from([b"\n"] * 5 + [b"\r\n", b"\r", b"\n\n", b""]))
    data = data.replace(b"\n", line_end)
    if draw(st.integers(0, 9)) == 9:
        data = gzip.compress(data, 1)[: draw(st.none() | st.integers(0, 99))]
    return data


def _with_other_value(draw: st.DrawFn, sample: bytes) -> bytes:
    """One value of a JSON file, or of a line, replaced, or its key renamed."""
    changed, others = sample, b""
    if b"\n{" in sample:  # a value in each line
        changed, _, others = sample.partition(b"\n")
    root = json.loads(changed)
    holder, key = draw(st.sampled_from(list(_places(root))))
    if isinstance(holder, dict) and draw(st.booleans()):
        holder[draw(st.sampled_from(["x", "\ud800", "a\nb"]))] = holder.pop(key)
    else:
        holder[key] = draw(st.sampled_from(VALUES))
    data = json.dumps(root).encode()
    if others:
        data += b"\n" + others
    return data


def _places(holder: Any) -> Iterator[tuple[Any, Any]]:
    """The dictionaries and lists of a JSON value, each with each of its keys."""
    keys: Iterable[Any] = ()
    if isinstance(holder, dict):
        keys = holder
    elif isinstance(holder, list):
        keys = range(len(holder))
    for key in keys:
        yield holder, key
        yield from _places(holder[key])


def unexpected(sample: bytes, size: int) -> Iterator[bytes]:
    """Files of this size, or compressed from forty times as much."""
    yield from (
        b"ab " * (size // 3),
        b"9" * size,
        b"[" * size,
        b"(" * size,
        b"[" + b"[]," * (size // 3) + b"[]]",
    )
    for data in (
        b"x" * size,
        b"ab cd ef gh ij kl mn op qr st\n" * (size // 30),
        sample * (size // len(sample) + 1),
    ):
        yield from (data, gzip.compress(40 * data, 1))
    yield pyarrow.compress(40 * size * b"x", codec="zstd", asbytes=True)


def is_read(subject: Subject, data: bytes, file: Path) -> bool:
    """Whether the file is read; if not, checks the error. Checks memory, too."""
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    message = None
    with grown() as memory:
        try:
            subject.read(file)
        except Exception as error:
            if subject.framework or isinstance(error, InputError):
                message = one_line(error)
            if message is None:
                raise
    assert message is None or len(message) < 2000
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", message or "")
    unpacked = len(data)
    if data.startswith(b"\x1f\x8b"):
        most = 100 * len(data) + 1
        with suppress(zlib.error):
            content = zlib.decompressobj(wbits=31).decompress(data, most)
            unpacked = max(unpacked, len(content))
    assert memory[0] < 64e6 + 10 * unpacked, (
        f"{memory[0] / 1e6:.0f} MB for a file of {unpacked / 1e6:.2f} MB"
    )
    return message is None


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Subject]:
    found = subjects(tmp_path_factory.mktemp("sound"))
    assert list(found) == NAMES
    return found


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_rejected(
    name: str, sound: dict[str, Subject], tmp_path: Path
) -> None:
    subject, file = sound[name], tmp_path / "damaged" / sound[name].name
    assert is_read(subject, subject.sample, file)
    count = COUNT
    if "archive" in name:
        count = COUNT // 10

    @settings(
        max_examples=count,
        deadline=timedelta(seconds=10),
        derandomize="FUZZ_COUNT" not in os.environ,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged(subject.sample))
    def check(data: bytes) -> None:
        is_read(subject, data, file)

    check()


@pytest.mark.parametrize("name", [name for name in NAMES if "archive" not in name])
def test_unexpected_files_need_little_memory(
    name: str, sound: dict[str, Subject], tmp_path: Path
) -> None:
    subject, file = sound[name], tmp_path / "damaged" / sound[name].name
    release()
    found = [is_read(subject, data, file) for data in unexpected(subject.sample, LARGE)]
    assert not all(found)
