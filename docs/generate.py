"""
Write what docs/ and README have from the code and from the runs: the reference pages,
the tables of results, sentences with numbers, and pictures. `make generated` runs this
script.
"""

import re
import tempfile
from pathlib import Path

from docs import generate_reference, generate_tables
from docs.images import elmo, figures
from elmo_tasks.experiments.tables.session import Session
from elmo_tasks.resources import configs_root

DOCS = Path(__file__).resolve().parent
PLANS = DOCS / "TABLES.md"
PLAN = re.compile(r"^(\| `(\w+)` \|[^|]*\|[^|]*\|) \d+ \|", re.MULTILINE)


def files() -> dict[Path, str]:
    """The text of each generated file, but for the times of tables, in seconds."""
    found = generate_tables.pages()
    for name, text in generate_reference.pages().items():
        found[DOCS / name] = text
    for name, picture in figures.pictures().items():
        found[DOCS / "images" / name] = picture
    found[DOCS / "images/elmo.svg"] = elmo.picture()
    return found


def plans() -> dict[Path, str]:
    """TABLES.md with the number of runs of each table."""
    text = PLANS.read_text("utf-8")
    names = [match[2] for match in PLAN.finditer(text)]
    tables = {file.stem for file in (configs_root() / "tables").glob("*.jsonnet")}
    if sorted(names) != sorted(tables):
        raise ValueError(f"{PLANS}: expected one row of each table: {sorted(tables)}")

    def planned(match: re.Match[str]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            runs = Session(match[2], Path(folder) / "out").left
        return f"{match[1]} {len(runs)} |"

    return {PLANS: PLAN.sub(planned, text)}


def main() -> None:
    for path, text in (files() | plans()).items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
