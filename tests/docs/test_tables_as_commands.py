"""
The table of commands in docs/TABLES.md is that of the tables' files.
`python -m tests.docs.test_tables_as_commands` writes it.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

import elmo_tasks.plugin  # noqa: F401  (makes AllenNLP importable)
from elmo_tasks.experiments.tables.session import Session
from elmo_tasks.resources import DATA_VARIABLE
from elmo_tasks.tasks import TASKS
from tests.tiny import ROOT

PAGE = ROOT / "docs/TABLES.md"
TABLES = ROOT / "training_config/tables"
COMMANDS = re.compile(r"\| paper \| command \| tasks .*?\n(?=\n)", re.DOTALL)


class Entry(NamedTuple):
    """A table: its file, its place in the paper, which scales we have run, and where."""

    name: str
    paper: str
    scales: str
    page: str


def of_results(title: str, name: str) -> str:
    return f"[{title}](results/{name}.md)"


TWO_AND_THREE = of_results("Tables 2 and 3", "tables-2-and-3")
FIGURE = of_results("Figure 1", "figure-1")
ASIDE = "[Data put aside](results/table-1.md#the-part-put-aside)"
GAMMA = of_results("Gamma and lambda", "gamma-and-lambda")
ENTRIES = [
    Entry("demo", "Table 1, NER alone", "`mini`", "[README](../README.md)"),
    Entry(
        "table1",
        "Table 1",
        "`small` and `mini`, three seeds",
        of_results("Table 1", "table-1"),
    ),
    Entry("aside", "Table 1, held out", "`small`", ASIDE),
    Entry("tenths", "not in the paper", "`small`: SST", ASIDE),
    Entry("table2", "Table 2", "`small`", TWO_AND_THREE),
    Entry("table3", "Table 3, A.6", "`small`; SRL at `mini`", TWO_AND_THREE),
    Entry("figure1", "Figure 1", "`small`; SRL at `mini`", FIGURE),
    Entry("epochs", "5.4, sample efficiency", "`mini`", FIGURE),
    Entry("lambda", "5.1, lambda for NER", "`mini`", GAMMA),
    Entry("gamma", "A.2", "SNLI at `small`, SRL and SQuAD at `mini`", GAMMA),
    Entry(
        "finetuning",
        "Table 7, A.1",
        "`mini`; SNLI and SST at `small`",
        of_results("Table 7", "table-7"),
    ),
    Entry(
        "ensembles",
        "Tables 8 and 9",
        "`mini`",
        of_results("Tables 8 and 9", "tables-8-and-9"),
    ),
    Entry(
        "wordvectors",
        "NAACL 5.6 and 5.7",
        "SNLI, and static rows, at `small`",
        of_results("Word vectors", "word-vectors"),
    ),
    Entry(
        "encoders",
        "not in the paper",
        "`small`, three tasks",
        of_results("Encoders", "encoders"),
    ),
    Entry(
        "tokens",
        "not in the paper",
        "`small`: NER, SST",
        of_results("Tokens", "tokens"),
    ),
    Entry(
        "untrained",
        "not in the paper",
        "`small`",
        of_results("A biLM without training", "untrained"),
    ),
]


def session_of(name: str, scale: str) -> Session:
    """The plan of a table, with corpora that need not exist."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, {DATA_VARIABLE: "/corpora"}),
    ):
        return Session(name, Path(folder) / "out", scale=scale)


def tasks_of(session: Session) -> str:
    """The tasks whose configs the rows have, in the order of the paper's Table 1."""
    used = {row.config.stem.removesuffix("_elmo") for row in session.rows}
    return ", ".join([name for name in TASKS if name in used])


def table() -> str:
    lines = [
        "| paper | command | tasks | runs | time at `mini`, `small` | our numbers |",
        "|---|---|---|---|---|---|",
    ]
    for entry in ENTRIES:
        mini = session_of(entry.name, "mini")
        small = session_of(entry.name, "small")
        cells = [
            entry.paper,
            f"`elmo-tasks ablate {entry.name} -s out/{entry.name}`",
            tasks_of(mini),
            str(len(mini.left)),
            f"{mini.time_left()}, {small.time_left()}",
            f"{entry.page}: {entry.scales}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def test_every_table_has_its_command() -> None:
    files = {file.stem for file in TABLES.glob("*.jsonnet")}
    assert files == {entry.name for entry in ENTRIES}


@pytest.mark.slow
def test_the_commands_and_times_are_those_of_the_tables() -> None:
    assert table() in PAGE.read_text("utf-8"), (
        "python -m tests.docs.test_tables_as_commands writes them"
    )


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    before = COMMANDS.search(page)
    assert before is not None
    PAGE.write_text(page.replace(before[0], table(), 1), "utf-8")
