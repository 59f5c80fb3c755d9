"""JSON of files and of requests: its values, and one error for each invalid one."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from elmo_tasks.errors import InputError
from elmo_tasks.formats.json_files import parse_json, read_json
from elmo_tasks.settings import validated
from elmo_tasks.tasks.inputs import Words
from tests.system import require_path

WORDS = TypeAdapter(Words)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, -1e3, null, true]}', {"a": [1, 2.5, -1000.0, None, True]}),
        ('"x"', "x"),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("[" * 900 + "]" * 900, None),
    ],
)
def test_values(text: str, value: Any) -> None:
    found = parse_json(text)
    assert value is None or found == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("NaN", "expected JSON, got 'NaN': NaN is not a valid number in JSON"),
        ('{"a": -Infinity}', "-Infinity is not a valid number in JSON"),
        ("1e999", "the number '1e999' is too large"),
        ("[1, -1e400]", "the number '-1e400' is too large"),
        ("[1, 2", "Expecting ',' delimiter at character 6"),
        ("{'a': 1}", "enclosed in double quotes at character 2"),
        ('"a\n"', "Invalid control character at character 3"),
        ("9" * 5000, "expected JSON, got '9"),
        ("[" * 9000, "expected JSON, got '"),
        ('[{"a": 1, "b": 2, "a": 1}]', "the key 'a' stands twice"),
    ],
)
def test_invalid_json(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(text)
    assert problem in str(caught.value) and len(str(caught.value)) < 300


def test_where_invalid_json_is() -> None:
    text = '{\n"a":\n]'
    cases: list[tuple[dict[str, Any], str]] = [
        ({"file": "x.json"}, "x.json:3: expected JSON"),
        ({"file": "x.jsonl", "line": 7}, "x.jsonl:7: expected JSON"),
        ({"file": "x.json", "what": "a list"}, "x.json:3: expected a list, got"),
    ]
    for place, expected in cases:
        with pytest.raises(InputError) as caught:
            parse_json(text, place.pop("what", "JSON"), **place)
        assert str(caught.value).startswith(expected)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "tokens: expected "),
        (["a", ""], r"tokens\.1: expected a word, got ''"),
        (["a", " \t"], r"tokens\.1: expected a word, got"),
        (["a\0"], r"tokens\.0: expected text without NUL characters"),
        (["a", "\ud800"], r"tokens\.1: expected valid Unicode"),
        (["\udfff"], r"tokens\.0: expected valid Unicode"),
        (["a", 5, ""], r"tokens\.1: expected a valid string, got 5"),
        ("a b", "tokens: expected a valid list, got 'a b'"),
        (None, "tokens: expected a valid list, got None"),
    ],
)
def test_invalid_words(words: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        validated(WORDS, words, "tokens")


def test_small_files(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    for text in ('{"a": 1}', '\ufeff{"a": 1}', ' {"a":\n1}\n'):
        file.write_text(text, "utf-8")
        assert read_json(file, "the options") == {"a": 1}
    file.write_text(f'"{"x" * (2**20 - 2)}"')
    assert len(read_json(file, "the options")) == 2**20 - 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{\n'a': 1}", "x.json:2: expected the options, got"),
        (b'"\xe9"', "x.json: expected the options, got"),
        (b'"' + b"x" * (2**20 - 1) + b'"', "expected the options, got a file of 1,0"),
    ],
)
def test_invalid_small_files(content: bytes, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_json(file, "the options")
    assert problem in str(caught.value) and caught.value.file == str(file)


def test_other_places_than_small_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="x.json: cannot read the options: .*No such"):
        read_json(tmp_path / "x.json", "the options")
    with pytest.raises(InputError, match="cannot read the options: .*Is a directory"):
        read_json(tmp_path, "the options")
    require_path("/dev/null")
    with pytest.raises(InputError, match="expected a regular file"):
        read_json("/dev/null", "the options")
