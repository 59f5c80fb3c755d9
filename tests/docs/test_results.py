"""The raw rows in docs/results/*.jsonl, and the commands of the pages with results."""

import argparse
import json
import re
import shlex
from pathlib import Path

import pytest

from docs import generate_tables
from docs.generate_tables import raw_rows, runs
from elmo_tasks.experiments.tables.table import choose_rows, read_table
from elmo_tasks.resources import DATA_VARIABLE
from tests.tiny import ROOT

DOCS = ROOT / "docs"
FOLDER = DOCS / "results"
PAGES = [DOCS / "RESULTS.md", ROOT / "benchmarks/README.md", *FOLDER.glob("*.md")]
TABLES = sorted(FOLDER.glob("*.jsonnet"))
JSONNET = re.compile(r"^```jsonnet\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HERE_DOCUMENT = re.compile(
    r"^cat > (\S+) <<'EOF'\n(.*?)^EOF$", re.MULTILINE | re.DOTALL
)
OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--scale", default="mini")
OPTIONS.add_argument("--rows", nargs="*", default=[])
ABLATE = re.compile(r"elmo-tasks\s+ablate\s+([\w./-]+)([^`\n]*)")


def path_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_every_raw_row_is_reported() -> None:
    text = generate_tables.SOURCE.read_text("utf-8")
    text += generate_tables.SENTENCES.read_text("utf-8")
    text += (FOLDER / "layers.json").read_text("utf-8")
    reported: set[int] = set()
    for match in generate_tables.RUN.finditer(text):
        reported.update(map(id, runs(match[0]).records))
    others = {"peers", "blocks"}  # times of training; scores without a block
    for file in sorted({path.stem for path in FOLDER.glob("*.jsonl")} - others):
        for record in raw_rows(file):
            assert id(record) in reported, (file, record["row"])


def test_raw_rows_have_no_paths_of_a_machine() -> None:
    for path in FOLDER.glob("*.jsonl"):
        text = path.read_text("utf-8")
        assert "file" not in json.loads(text.splitlines()[0]), path
        assert re.search(r'": "/|/home|/tmp', text) is None, path


@pytest.mark.slow
@pytest.mark.parametrize("file", TABLES, ids=path_of)
def test_tables_beside_the_raw_rows(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA_VARIABLE, "/corpora")
    assert read_table(file, "small").rows


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=path_of)
def test_a_command_names_a_table_and_its_rows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA_VARIABLE, "/corpora")
    text = page.read_text("utf-8")
    for name in ("training_config", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name, table in HERE_DOCUMENT.findall(text):
        (tmp_path / name).write_text(table)
    for number, block in enumerate(JSONNET.findall(text)):
        file = tmp_path / f"{number}.jsonnet"
        file.write_text(block)
        assert read_table(file, "small").rows
    for name, options in ABLATE.findall(text.replace("\\\n", " ")):
        given, _ = OPTIONS.parse_known_args(shlex.split(options, comments=True))
        file = tmp_path / name
        if not name.endswith(".jsonnet"):
            file = tmp_path / f"training_config/tables/{name}.jsonnet"
            assert file.is_file(), name
        if file.is_file():  # other files are the blocks above
            assert choose_rows(read_table(file, given.scale), given.rows)
