"""
The table of tables in docs/TABLES.md is that of the tables' files.
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
from tests.tiny import ROOT

PAGE = ROOT / "docs/TABLES.md"
TABLES = ROOT / "training_config/tables"
COMMANDS = re.compile(r"\| table \| paper \| compares .*?\n(?=\n)", re.DOTALL)


class Entry(NamedTuple):
    """A table: its file, its place in the paper, what it compares, and our numbers."""

    name: str
    paper: str
    compares: str
    numbers: str


def of_results(title: str, name: str) -> str:
    return f"[{title}](results/{name}.md)"


TWO_AND_THREE = of_results("Tables 2 and 3", "tables-2-and-3")
FIGURE = of_results("Figure 1", "figure-1")
ASIDE = "[Data put aside](results/table-1.md#the-part-put-aside)"
GAMMA = of_results("Gamma and lambda", "gamma-and-lambda")
TABLE_7 = of_results("Table 7", "table-7")
ENTRIES = [
    Entry(
        "demo",
        "Table 1, NER",
        "the smallest table: `make demo`",
        "[README](../README.md)",
    ),
    Entry(
        "table1",
        "Table 1",
        "six models without and with ELMo",
        of_results("Table 1", "table-1"),
    ),
    Entry(
        "aside",
        "Table 1",
        "the same, also scored on [data put aside](#data-put-aside)",
        ASIDE,
    ),
    Entry(
        "tenths",
        "",
        "SST-5, scored on each tenth of the training data in turn",
        ASIDE,
    ),
    Entry(
        "table2",
        "Table 2",
        "the last layer, or all with a large or a small lambda; "
        "also [CoVe](SOURCES.md#cove)",
        TWO_AND_THREE,
    ),
    Entry(
        "layers",
        "",
        "each layer alone, and all of them",
        of_results("SNLI with the last layer", "snli-last-layer"),
    ),
    Entry(
        "table3",
        "Table 3, A.6",
        "ELMo at the input, the output, or both",
        TWO_AND_THREE,
    ),
    Entry("figure1", "Figure 1", "training data from 0.1 % to 100 %", FIGURE),
    Entry("epochs", "5.4", "epochs until ELMo passes the baseline's best", FIGURE),
    Entry("lambda", "5.1", "lambda for NER", GAMMA),
    Entry("gamma", "A.2", "the last layer without gamma", GAMMA),
    Entry(
        "finetuning",
        "Table 7, A.1",
        "perplexity and score before and after fine-tuning the biLM",
        TABLE_7,
    ),
    Entry(
        "ensembles",
        "Tables 8, 9",
        "mean probabilities or votes of several seeds",
        of_results("Tables 8 and 9", "tables-8-and-9"),
    ),
    Entry(
        "wordvectors",
        "NAACL 5.6, 5.7",
        "word vectors, the character layer, ELMo without word vectors, "
        "[static vectors](VECTORS.md#static-vectors)",
        of_results("Word vectors", "word-vectors"),
    ),
    Entry(
        "encoders",
        "",
        "the biLM, CoVe and [transformers](SOURCES.md#transformers), all layers or "
        "the last",
        of_results("Encoders", "encoders"),
    ),
    Entry(
        "tokens",
        "",
        "biLMs trained on more and more tokens",
        of_results("Tokens", "tokens"),
    ),
    Entry(
        "untrained",
        "",
        "a biLM with random weights",
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


def table() -> str:
    lines = [
        "| table | paper | compares | runs | time at `mini`, `small` | our numbers |",
        "|---|---|---|---|---|---|",
    ]
    for entry in ENTRIES:
        mini = session_of(entry.name, "mini")
        small = session_of(entry.name, "small")
        cells = [
            f"`{entry.name}`",
            entry.paper,
            entry.compares,
            str(len(mini.left)),
            f"{mini.time_left()}, {small.time_left()}",
            entry.numbers,
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
