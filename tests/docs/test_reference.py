"""
The reference pages leave nothing out.
"""

import re

import pytest
from allennlp.common import Registrable

from docs import generate_reference as reference
from elmo_tasks.cli.main import COMMANDS

CELLS = re.compile(r"(?<!\\)\|")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference.pages()


def test_every_key_and_option_has_a_meaning(pages: dict[str, str]) -> None:
    empty = []
    for text in pages.values():
        for line in text.splitlines():
            if line.startswith("| `") and not CELLS.split(line)[-2].strip():
                empty.append(line)
    assert empty == []


def test_every_registered_class_has_a_section(pages: dict[str, str]) -> None:
    missing = []
    for kind, names in Registrable._registry.items():
        if kind in reference.WITHOUT_SECTION:
            continue
        for name in names:
            title = f"\n### {name}\n"
            if (
                reference.is_ours(kind, name)
                and title not in pages["reference-configs.md"]
            ):
                missing.append(f"{kind.__name__} {name}")
    assert missing == []


def test_every_model_and_command_has_a_section(pages: dict[str, str]) -> None:
    for name in reference.Model.list_available():
        if reference.is_ours(reference.Model, name):
            assert f"\n### {name}\n" in pages["reference-configs.md"]
    for name in COMMANDS:
        assert f"\n## elmo-tasks {name}\n" in pages["reference-cli.md"]
