"""Random damage to valid files."""

import gzip
import json
import random
from typing import Any

PIECES = [
    *(b"\xc2\xa0", b"\xe2\x80\xa8", b"\0", b"\xff", b"\r", b"\r\n", b"\t", b" ", b"\n", b"\n\n", b"\x1c", b"\xc2\x85"),
    *(bytes([character]) for character in b"()\"'{}[]<>&*-|/\\,:#"),
    *(b"(1", b"1)", b"(V*", b"NaN", b"-1", b"0", b"1e400", b"null", b"true", b'""', b"[]", b"{}", b"9" * 5000),
    *(b"\xc2\xb2", b"\xd9\xa3", b"\\ud800", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"x" * 10_000, b"\xef\xbb\xbf"),
    *(b"@@UNKNOWN@@", b"-DOCSTART-", b"#begin document (x)\n", b"#end document\n", b"B-", b"I-PER", b"<!ENTITY a 'b'>"),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 3.5, float("nan"), 10**30, "", " ", "\u00a0", "\u200b", "\ud800", "x" * 3000),
    *([], {}, [[]], [None], ["a"], {"a": 1}, "²", "-", "A " * 50, "neutral"),
]


def mutated(sample: bytes, draw: random.Random) -> bytes:
    """The sample truncated, with pieces inserted or removed, lines duplicated, JSON values replaced, or as gzip."""
    data = sample
    if sample[:1] in b"{[" and draw.random() < 0.5:
        data = _mutated_json(sample, draw)
    else:
        for _ in range(draw.choice([1, 1, 1, 2, 4])):
            data = _CHANGES[draw.randrange(len(_CHANGES))](data, draw)
    if draw.random() < 0.1:
        data = gzip.compress(data, 1)
        if draw.random() < 0.7:
            data = _CHANGES[draw.randrange(len(_CHANGES))](data, draw)
    return data


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _insert(data: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(data) + 1)
    return data[:place] + draw.choice(PIECES) + data[place:]


def _replace(data: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(data) + 1)
    return data[:start] + draw.choice(PIECES) + data[start + draw.randrange(1, 9) :]


def _remove(data: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(data) + 1)
    return data[:start] + data[start + draw.randrange(1, 40) :]


def _flip(data: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(data) + 1)
    return data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :]


def _double_line(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
    return b"\n".join(lines)


def _replace_field(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    place = draw.randrange(len(lines))
    fields = lines[place].split(draw.choice([b" ", b"\t"]))
    fields[draw.randrange(len(fields))] = draw.choice(PIECES)
    lines[place] = b" ".join(fields)
    return b"\n".join(lines)


def _line_ends(data: bytes, draw: random.Random) -> bytes:
    return data.replace(b"\n", draw.choice([b"\r\n", b"\r", b"\n\n", b""]))


_CHANGES = (_cut, _insert, _replace, _remove, _flip, _double_line, _replace_field, _line_ends)


def _mutated_json(sample: bytes, draw: random.Random) -> bytes:
    """One value of the file, or of one of its lines, replaced, renamed or removed."""
    try:
        return _changed(json.loads(sample), draw)
    except json.JSONDecodeError:
        lines = sample.splitlines()
        place = draw.randrange(len(lines))
        lines[place] = _changed(json.loads(lines[place]), draw)
        return b"\n".join(lines) + b"\n"


def _changed(root: Any, draw: random.Random) -> bytes:
    holder, key = draw.choice(list(_places(root)))
    kind = draw.randrange(3)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[draw.choice(["x", "\ud800", "a\nb", f"{key} "])] = holder.pop(key)
    else:
        holder[key] = draw.choice(VALUES)
    return json.dumps(root).encode()


def _places(holder: Any) -> list[tuple[Any, Any]]:
    keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
    return [place for key in keys for place in [(holder, key), *_places(holder[key])]]
