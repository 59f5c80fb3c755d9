"""
`elmo-tasks bilm` on texts with typographic marks: the numbers of the same texts with
plain marks, the words of the text, and one warning.
"""

import json
from functools import partial
from pathlib import Path

from tests.cli.test_tables import rows_of
from tests.pretraining.test_marks import PLAIN
from tests.test_flow import elmo_tasks

bilm = partial(elmo_tasks, "bilm")

TEXTS = ("“He | left, etc… | I’m — | told.”", "‘a’", "They aren’t dogs’", "…")


def measured(folder: Path, marks: dict[int, str]) -> list[dict[str, str]]:
    """The rows of `TEXTS` in a table, with these marks in place of others."""
    regions, note, words, other = [text.translate(marks) for text in TEXTS]
    lines = [{"t": regions, "note": note}, {"t": words.split(), "note": other}]
    file, out = folder / "x.jsonl", folder / "out.tsv"
    file.write_text("\n".join(map(json.dumps, lines)))
    options = ("--tokenizer", "basic", "--column", "t", "--keep", "note", "--force")
    bilm("surprisal", file, "--regions", "|", "--output", out, *options)
    return rows_of(out)


def test_a_table_with_regions(tmp_path: Path) -> None:
    """Also where a region ends within a mark, and in kept cells."""
    typed, plain = measured(tmp_path, {}), measured(tmp_path, PLAIN)
    for row, expected in zip(typed, plain, strict=True):
        for key in ("forward", "backward", "oov", "region", "word"):
            assert row[key] == expected[key]
    assert {row["note"] for row in typed} == {"‘a’", "…"}
    assert "n't" in {row["word"] for row in typed}
