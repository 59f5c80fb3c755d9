"""
The table of keys in docs/LAYERS.md is that of the settings. `python -m
tests.docs.test_settings` writes it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from elmo_tasks.nn.elmo_embedder import SETTINGS
from elmo_tasks.settings import Range, annotations, as_json, choices, meaning

PAGE = Path(__file__).resolve().parents[2] / "docs/LAYERS.md"
TABLE = re.compile(r"\| key \| values.*?\n(?=\n)", re.DOTALL)


def table() -> str:
    rows = ["| key | values | default | meaning |", "|---|---|---|---|"]
    for settings in SETTINGS:
        for key, annotation in annotations(settings).items():
            default = as_json(settings.__dataclass_fields__[key].default)  # type: ignore[attr-defined]
            rows.append(
                f"| `{key}` | {values(annotation)} | `{default}` | {meaning(annotation)} |"
            )
    return "\n".join(rows) + "\n"


def values(annotation: Any) -> str:
    listed = choices(annotation)
    if listed is not None:
        return ", ".join([f"`{as_json(value)}`" for value in listed])
    for part in walk(annotation):
        if isinstance(part, Range):
            return f"a number {part}"
    if "Path" in str(annotation):
        return "path"
    if "bool" in str(annotation):
        return "`true`, `false`"
    return "text"


def walk(annotation: Any) -> Iterator[Any]:
    """A type and its parts."""
    yield annotation
    for argument in get_args(annotation):
        yield from walk(argument)


def test_the_table_is_that_of_the_settings() -> None:
    assert table() in PAGE.read_text("utf-8")


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    before = TABLE.search(page)
    assert before is not None
    PAGE.write_text(page.replace(before[0], table(), 1), "utf-8")
