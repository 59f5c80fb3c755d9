"""docs/PAPER.md: links into code, config values and commands."""

import re
import sys

import pytest

from elmo_tasks.resources import DATA_VARIABLE
from tests.docs.test_fidelity import check_value
from tests.tiny import ROOT

sys.path.append(str(ROOT / "docs/extensions"))

from repository_links import with_lines

PAGE = ROOT / "docs/PAPER.md"
CONFIG = re.compile(
    r"Config: \[`(\w+)`\]\(\.\./training_config/paper/\1\.jsonnet\)(.*?)(?:\.\s|;)",
    re.DOTALL,
)
VALUE = re.compile(r"`([\w.]+): ([^`]+)`")
RUN = re.compile(r"`elmo-tasks ablate (\w+)|training_config/(\w+)\.jsonnet -s")


def test_links_into_code_have_a_line() -> None:
    """Each names a class, function or method of its file, or an expression in one line."""
    text = PAGE.read_text("utf-8")
    links = re.findall(r"\]\(\.\./elmo_tasks/[^)]*#L\d+\)", with_lines(text))
    assert len(links) == text.count("](../elmo_tasks/") > 30
    with pytest.raises(ValueError, match="`Nobody` in 0 places"):
        with_lines("[`bilm/lstm.py`: `Nobody`](../elmo_tasks/bilm/lstm.py)")


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
