"""
docs/PAPER.md: links into code, config values and numbers. `python -m
tests.docs.test_paper` writes the line numbers.

A link's text names a file and a class, function or method in it, or an expression that
one of its lines contains.
"""

import ast
import json
import re
from functools import cache
from typing import Any, NamedTuple

import pytest

from elmo_tasks.experiments.published import FILE
from elmo_tasks.resources import DATA_VARIABLE, configs_root
from tests.docs.test_fidelity import check_value
from tests.tiny import ROOT

PAGE, RESULTS = ROOT / "docs/PAPER.md", ROOT / "docs/RESULTS.md"
LAYERS = ROOT / "docs/results/layers.json"
CARD = ROOT / "fixtures/bilm/README.md"
IN_RESULTS = {"Table 1", "Table 2", "Table 3", "Section A.6"}
"""The scores that docs/RESULTS.md has in PAPER's place."""

REPEATED = {
    "Table 10": ("SRL", "He et al. (2017) + ELMo"),
    "Table 11": ("Coref", "Lee et al. (2017) + ELMo"),
    "Table 12": ("NER", "biLSTM-CRF + ELMo"),
}
"""The paper's rows of these tables are those of Table 1."""

HEADINGS = re.compile("^#.*", re.MULTILINE)
KNOWN_OTHERWISE = {"93.6", "3.0", "4.2", "2.07"}
"""
The parameters of the paper's biLM, in millions; a difference that
`test_our_scores_of_the_probes` computes; two increases that contradict Table 1.
"""
CODE = re.compile(r"\[`([\w/]+\.py)`: `([^`]+)`\]\(\.\./elmo_tasks/\1#L\d+\)")
CONFIG = re.compile(
    r"Config: \[`(\w+)`\]\(\.\./training_config/paper/\1\.jsonnet\)(.*?)(?:\.\s|;)",
    re.DOTALL,
)
VALUE = re.compile(r"`([\w.]+): ([^`]+)`")
RUN = re.compile(r"`elmo-tasks ablate (\w+)|training_config/(\w+)\.jsonnet -s")


def line_of(path: str, name: str) -> int:
    """
    The line of `elmo_tasks/path` that begins the definition of `name`, or contains this
    expression.
    """
    text = (ROOT / "elmo_tasks" / path).read_text("utf-8")
    if not re.fullmatch(r"[\w.]+", name):
        lines = []
        for number, content in enumerate(text.splitlines(), start=1):
            if name in content:
                lines.append(number)
        (line,) = lines
        return line
    body = ast.parse(text).body
    line = 0
    for part in name.split("."):
        definition = definition_of(body, part)
        line, body = definition.lineno, definition.body
    return line


def definition_of(body: list[ast.stmt], name: str) -> ast.ClassDef | ast.FunctionDef:
    """The class or function of this name."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return node
    raise AssertionError(f"{name} is not defined")


def with_lines(text: str) -> str:
    """The page with the current line numbers."""
    return CODE.sub(link_to, text)


def link_to(found: re.Match[str]) -> str:
    file, name = found.groups()
    return f"[`{file}`: `{name}`](../elmo_tasks/{file}#L{line_of(file, name)})"


def section_of(text: str, heading: str) -> str:
    """From a heading that begins so to the next one of its level."""
    (level, rest) = re.search(
        rf"^(#+) {re.escape(heading)}(.*)", text, re.MULTILINE | re.DOTALL
    ).groups()  # type: ignore[union-attr]
    return re.split(rf"^{level} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


class Table(NamedTuple):
    header: list[str]
    rows: dict[str, list[str]]
    """The cells after the first, by the first."""


def tables_of(text: str) -> list[Table]:
    """The tables of a page, in order."""
    tables = []
    for lines in re.findall(r"(?:^\|.*\n)+", text + "\n", re.MULTILINE):
        header, _, *rows = [cells_of(line) for line in lines.splitlines()]
        tables.append(Table(header, {row[0]: row[1:] for row in rows}))
    return tables


def cells_of(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [cell.strip().replace("*", "") for cell in cells]


@cache
def of_the_page() -> dict[str, Table]:
    """The tables of docs/PAPER.md by their first cell, such as `Table 5`."""
    return {table.header[0]: table for table in tables_of(PAGE.read_text("utf-8"))}


@cache
def measured() -> str:
    """All pages with results."""
    pages = [RESULTS, *sorted((ROOT / "docs/results").glob("*.md")), CARD]
    return "\n".join([page.read_text("utf-8") for page in pages])


def measured_table(columns: list[str]) -> Table:
    """The first table of results that has these columns."""
    for table in tables_of(measured()):
        if set(columns) <= set(table.header):
            return table
    raise AssertionError(f"no table of results has {columns}")


def test_links_into_code() -> None:
    text = PAGE.read_text("utf-8")
    assert text.count("](../elmo_tasks/") == len(CODE.findall(text)) > 30
    assert with_lines(text) == text, (
        "python -m tests.docs.test_paper writes the line numbers"
    )


def test_config_values_and_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, "/corpora")
    text = PAGE.read_text("utf-8")
    count = 0
    for name, values in CONFIG.findall(text):
        for key, value in VALUE.findall(values):
            check_value(name, key, value)
            count += 1
    assert count > 10
    for table, config in RUN.findall(text):
        file = config or f"tables/{table}"
        assert (ROOT / f"training_config/{file}.jsonnet").exists()


def published() -> dict[str, dict[str, dict[str, Any]]]:
    """The paper's scores; numbers are texts, with the digits of the paper."""
    text = (configs_root() / FILE).read_text("utf-8")
    found: dict[str, dict[str, dict[str, Any]]]
    found = json.loads(text, parse_float=str, parse_int=str)
    return found


def shown(score: Any) -> str:
    """A score of the paper as a cell of the page."""
    if score is None:
        return "–"
    if isinstance(score, str):
        return score
    if "says" in score:
        return str(score["says"])
    return f"{score['mean']} ± {score['deviation']}"


def published_cells(source: str) -> dict[str, list[str]]:
    """The cells of each row of a source, by its label."""
    return {
        label: [shown(score) for score in scores.values()]
        for label, scores in published()[source].items()
    }


@pytest.mark.parametrize("source", [one for one in published() if one in of_the_page()])
def test_published_scores_are_those_of_the_data(source: str) -> None:
    """
    Each row of the paper's table, in its order, and no other, in the columns before the
    first one of ours.
    """
    table = of_the_page()[source]
    count = len(table.header) - 1
    for number, column in enumerate(table.header[1:]):
        if column.startswith("ours"):
            count = min(count, number)
    found = {label: cells[:count] for label, cells in table.rows.items()}
    assert list(found.items()) == list(published_cells(source).items())


def single_rows() -> dict[str, list[str]]:
    """The rows whose label names the table or the section, such as `Table 8: DIIN`."""
    found = {}
    for table in tables_of(PAGE.read_text("utf-8")):
        if table.header[0] == "row":
            found.update(table.rows)
    return found


def test_single_rows_have_the_published_scores() -> None:
    for label, cells in single_rows().items():
        source, _, row = label.partition(": ")
        assert cells[0] == ", ".join(published_cells(source)[row])


def test_every_source_is_on_a_page() -> None:
    """Or has other systems and Table 1's rows alone."""
    sources = {label.partition(": ")[0] for label in single_rows()}
    sources |= set(of_the_page()) | IN_RESULTS
    missing = set(published()) - sources
    assert missing == {"Table 10", "Table 11", "Table 12", "Table 13"}
    for source, (task, row) in REPEATED.items():
        ours = published()["Table 1"][task]["ELMo"]
        assert list(published()[source][row].values()) == [ours]


@pytest.mark.parametrize("source", ["Table 2", "Table 3"])
def test_the_scores_of_the_paper_in_tables_2_and_3(source: str) -> None:
    tables = tables_of(RESULTS.read_text("utf-8"))
    (table,) = [one for one in tables if one.header[0] == source]
    paper = {}
    for label, cells in table.rows.items():
        task, _, kind = label.partition(", paper")
        if label != task:
            paper[task] = cells[:2] if kind else cells
    expected = published_cells(source)
    if source == "Table 3":
        expected |= published_cells("Section A.6")
    assert paper == expected


def test_the_scores_of_the_paper_below_ours() -> None:
    (table,) = [one for one in tables_of(measured()) if one.header[0] == "paper"]
    expected = {}
    for task, scores in published()["Table 1"].items():
        both = [shown(scores["baseline"]), shown(scores["ELMo"])]
        expected[task] = both + [f"+{scores['increase']}"]
        relative = measured_table(["data", "ours", "paper"]).rows[task][2]
        assert relative == f"{scores['relative']} %"
    assert table.rows == expected


def test_our_scores_of_the_probes() -> None:
    word_senses, speech = json.loads(LAYERS.read_text("utf-8"))[:2]
    page = of_the_page()
    for layer, label in (("1", "biLM, First Layer"), ("2", "biLM, Second Layer")):
        assert page["Table 5"].rows[label][-1] == word_senses[layer]
        assert page["Table 6"].rows[label][-1] == speech[layer]
    first_sense = page["Table 5"].rows["WordNet 1st Sense Baseline"]
    assert first_sense[-1] == word_senses["without"]
    results = measured_table(["word senses, F1"]).rows
    rows = ("WordNet's first sense", "biLM, layer 1", "biLM, layer 2")
    expected = [results[row][1] for row in rows]
    found = [row[1] for row in page["Table 5"].rows.values() if row[1][:1].isdigit()]
    assert found == expected
    gain = float(expected[2]) - float(expected[0])
    assert f"{gain:.1f} on our Senseval-2" in PAGE.read_text("utf-8")


def test_other_scores_are_measured_somewhere() -> None:
    """Each number with a decimal of the page is in a page of results or published."""
    text = re.sub(r"\$\$.*?\$\$|\]\(.*?\)|`[^`]*`", "", PAGE.read_text("utf-8"))
    numbers = set(re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", text))
    sections = set(
        re.findall(r"(?<![\w.])\d\.\d(?![\w.])", "\n".join(HEADINGS.findall(text)))
    )
    known = measured() + (configs_root() / FILE).read_text("utf-8")
    unknown = []
    for number in sorted(numbers - sections):
        if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", known):
            unknown.append(number)
    assert set(unknown) <= KNOWN_OTHERWISE


def test_the_matrix_is_that_of_the_results() -> None:
    for row in json.loads(LAYERS.read_text("utf-8")):
        for column in ("without", "0", "1", "2", "all"):
            heading = row.get(f"section {column}", row["section"])
            section = section_of(measured(), heading)
            assert row.get(column, "") in section.replace("*", ""), (row["row"], column)


if __name__ == "__main__":
    PAGE.write_text(with_lines(PAGE.read_text("utf-8")), "utf-8")
