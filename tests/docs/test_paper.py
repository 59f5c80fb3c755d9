"""
docs/PAPER.md: links into code, config values and numbers. `python -m
tests.docs.test_paper` writes the line numbers.

A link's text names a file and a class, function or method in it, or an expression that
one of its lines contains.
"""

import ast
import json
import re

import pytest

from elmo_tasks.resources import DATA_VARIABLE
from tests.docs.test_fidelity import check_value
from tests.tiny import ROOT

PAGE, RESULTS = ROOT / "docs/PAPER.md", ROOT / "docs/RESULTS.md"
LAYERS = ROOT / "docs/results/layers.json"
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


def rows_of(text: str, heading: str) -> list[list[str]]:
    """The cells of each row of the tables in a section."""
    rows = []
    for line in section_of(text, heading).splitlines():
        if line.startswith("|"):
            cells = line.strip("|").split("|")
            rows.append([cell.strip() for cell in cells])
    return rows


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


def test_numbers_are_those_of_the_results() -> None:
    page, results = PAGE.read_text("utf-8"), RESULTS.read_text("utf-8")
    table = rows_of(results, "Table 1: six tasks")
    names = table[0]
    without, with_elmo, increase, _, _, papers = table[2:8]
    for row in rows_of(page, "4 Six tasks")[2:]:
        column = names.index(row[0].partition(" (")[0])
        increased = increase[column].partition(" (")[0]
        paper = papers[column].partition(" (")[0]
        assert row[2:] == [without[column], with_elmo[column], increased, paper]
    expected = rows_of(results, "Tables 2 and 3")
    for heading, count in (("5.1 Which layers", 6), ("5.2 Where", 8)):
        rows = [row for row in rows_of(page, heading) if has_numbers(row)]
        assert len(rows) == count
        for row in rows:
            assert row in expected


def has_numbers(row: list[str]) -> bool:
    return any(cell[:1].isdigit() for cell in row)


def test_the_matrix_is_that_of_the_results() -> None:
    pages = [RESULTS, *sorted(LAYERS.parent.glob("*.md"))]
    results = "\n".join([page.read_text("utf-8") for page in pages])
    for row in json.loads(LAYERS.read_text("utf-8")):
        for column in ("without", "0", "1", "2", "all"):
            section = section_of(results, row.get(f"section {column}", row["section"]))
            assert row.get(column, "") in section.replace("*", ""), (row["row"], column)
    probes = {}
    for row in rows_of(PAGE.read_text("utf-8"), "5.3 What")[2:]:
        probes[row[0].partition(" (")[0]] = row[1:4]
    word_senses, speech = json.loads(LAYERS.read_text("utf-8"))[:2]
    assert probes["word senses, F1"] == [word_senses[layer] for layer in "012"]
    assert probes["parts of speech, accuracy"] == [speech[layer] for layer in "012"]


if __name__ == "__main__":
    PAGE.write_text(with_lines(PAGE.read_text("utf-8")), "utf-8")
