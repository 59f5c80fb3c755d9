"""
`elmo-tasks bilm` on texts with typographic marks: the numbers of the same texts with
plain marks, the words of the text, and one warning.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any

from tests.cli.test_tables import rows_of
from tests.pretraining.test_marks import PLAIN
from tests.test_flow import elmo_tasks

bilm = partial(elmo_tasks, "bilm")


def plain(value: Any) -> Any:
    """A text, or what has texts in it, with plain marks."""
    if isinstance(value, str):
        return value.translate(PLAIN)
    if isinstance(value, list):
        return [plain(part) for part in value]
    return {key: plain(part) for key, part in value.items()}


def both(folder: Path, name: str, values: list[Any]) -> tuple[Path, Path]:
    """Files with these lines of text or JSON, and with plain marks in them."""
    files = (folder / f"typed/{name}", folder / f"plain/{name}")
    for file, lines in zip(files, (values, plain(values)), strict=True):
        if name.endswith(".jsonl"):
            lines = [json.dumps(line) for line in lines]
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join([f"{line}\n" for line in lines]), "utf-8")
    return files


def test_a_table_with_regions(tmp_path: Path) -> None:
    """Also where a region ends within a mark, and in kept cells."""
    lines = [
        {"t": "“He | left, etc… | I’m — | told.”", "note": "‘a’"},
        {"t": ["They", "aren’t", "dogs’"], "note": "…"},
    ]
    tables = []
    for file in both(tmp_path, "x.jsonl", lines):
        out = file.parent / "out.tsv"
        options = ("--tokenizer", "basic", "--column", "t", "--keep", "note")
        bilm("surprisal", file, "--regions", "|", "--output", out, *options)
        tables.append(rows_of(out))
    for row, expected in zip(*tables, strict=True):
        for key in ("forward", "backward", "oov", "region", "word"):
            assert row[key] == expected[key]
    assert {row["note"] for row in tables[0]} == {"‘a’", "…"}
    assert "n't" in {row["word"] for row in tables[0]}
