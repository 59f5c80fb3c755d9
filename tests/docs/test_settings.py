"""The table of keys in docs/LAYERS.md is that of the settings. `python -m tests.docs.test_settings` writes it."""

import re
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
    kind = str(annotation)
    if listed := choices(annotation):
        return ", ".join(f"`{as_json(value)}`" for value in listed)
    limits = next((part for part in walk(annotation) if isinstance(part, Range)), None)
    if limits is not None:
        return f"a number {limits}"
    return "path" if "Path" in kind else "`true`, `false`" if "bool" in kind else "text"


def walk(annotation: Any) -> list[Any]:
    return [
        annotation,
        *(part for argument in get_args(annotation) for part in walk(argument)),
    ]


def test_the_table_is_that_of_the_settings() -> None:
    assert table() in PAGE.read_text("utf-8")


if __name__ == "__main__":
    PAGE.write_text(
        TABLE.sub(lambda _: table(), PAGE.read_text("utf-8"), count=1), "utf-8"
    )
