"""What a file is said to be, and what its content says."""

import json
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.signatures import require_sound

URL = "https://example.org/file"


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": 1}',
        b'[1, {"b": null}]\n',
        b'\xef\xbb\xbf {"a": 1}  \n\n',
        b'{"a": 1}\n{"a": 2}\n',  # a value in each line
        b'{"a": 1}\n\n  \n{"a": 2}',
        json.dumps([{"text": "x" * 200}] * 20_000).encode(),
    ],
)
def test_json_is_sound(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "options.json"
    file.write_bytes(content)
    require_sound(file, url=URL + ".json")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b'{"a": 1',
        b'"a": 1}',
        b"{a}",
        b'{"a": 1}\n{a}\n',
        b"<html>{}</html>",
        b"{" * 5000 + b"}" * 5000,
        b'{"a": "\xff"}',
    ],
)
def test_json_is_not_sound(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "options.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"file\.json: expected a .*, got a"):
        require_sound(file, url=URL + ".json")
