"""
What one may do with the package: terms for each file of the wheel and each text of the
bundled biLM, how to cite it, and its address.
"""

import re
import subprocess
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml

import elmo_tasks
from tests.tiny import FIXTURES, ROOT

NOTICE = (ROOT / "NOTICE").read_text("utf-8")
CARD = (FIXTURES / "bilm" / "README.md").read_text("utf-8")
TRAINED = ("fixtures/bilm/", "fixtures/miniworld/vectors/")
"""Folders of files that were trained on text of others."""

ADDRESS = (
    r"(hub[a-z]*[.]com|/gh|/github)/[[:alnum:]-]+/elmo[-_]tasks"
    r"|[[:alnum:]-]+[.]github[.]io/elmo"
)
"""Of this project, on GitHub or a site that reads from there."""

BIBTEX = re.compile(r"```bibtex\n(.*?)```", re.DOTALL)


def statements() -> dict[str, str]:
    """The terms in NOTICE of the files below each path."""
    found = re.findall(r"^  (\S+/) +(Apache-2\.0.*)$", NOTICE, re.MULTILINE)
    terms = dict(found)
    assert len(terms) == len(found) > 5
    return terms


def covering(path: str) -> str | None:
    """The longest path in NOTICE with which a path begins."""
    found = [prefix for prefix in statements() if path.startswith(prefix)]
    return max(found, key=len, default=None)


def files_of_the_wheel() -> list[str]:
    """Those that pyproject.toml selects, as they are named in the source tree."""
    reason = "hatchling is not installed: make install"
    wheel = pytest.importorskip("hatchling.builders.wheel", reason=reason)
    names = []
    for file in wheel.WheelBuilder(str(ROOT)).recurse_included_files():
        name = Path(file.path).relative_to(ROOT).as_posix()
        if "__pycache__" not in name:
            names.append(name)
    return names


def test_each_file_of_the_wheel_has_terms() -> None:
    names = files_of_the_wheel()
    assert "elmo_tasks/py.typed" in names and "fixtures/bilm/weights.hdf5" in names
    assert [name for name in names if covering(name) is None] == []
    assert {covering(name) for name in names} == statements().keys()


def test_folders_of_data_have_terms_of_their_own() -> None:
    """A new one is not covered by those of another."""
    assert covering("fixtures/new/file.txt") is None
    for folder in TRAINED:
        assert "trained on text of others" in statements()[folder]
    for name in files_of_the_wheel():
        if name.endswith((".hdf5", ".gz")):
            assert covering(name) in TRAINED


def test_wheel_and_project_have_the_notice() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["license-files"]) == {"LICENSE", "NOTICE"}
    for file in (NOTICE, (ROOT / "LICENSE").read_text()):
        assert re.search(r"^ *Copyright 2026 The elmo_tasks authors$", file, re.M)
    assert "[yyyy]" not in (ROOT / "LICENSE").read_text()


@pytest.mark.parametrize("text", [NOTICE, CARD], ids=["NOTICE", "card"])
def test_each_text_of_the_bilm_has_terms(text: str) -> None:
    """And the question of a company an answer."""
    words = " ".join(text.split())
    for name, terms in (
        ("novels, 23.8 ", "public domain"),
        ("Wikipedia", "CC BY-SA"),
        ("Large Movie Review Dataset", "personal, non-commercial use"),
    ):
        assert name in words and terms in words
    answer = words.partition("May a company use it?")[2]
    assert "we cannot say yes" in answer and "lawyer" in answer


def test_card_of_the_bilm_promises_no_free_licence() -> None:
    _, header, _ = CARD.split("---\n", 2)
    found = yaml.safe_load(header)
    assert found["license"] == "other" and found["license_link"].endswith("/NOTICE")


def test_citation() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert isinstance(cited["date-released"], date)
    assert cited["version"] == elmo_tasks.__version__
    (bibtex,) = BIBTEX.findall((ROOT / "docs" / "licence.md").read_text("utf-8"))
    for text in (
        cited["references"][0]["doi"],
        cited["repository-code"],
        f'version = "{cited["version"]}"',
        f'year = "{cited["date-released"].year}"',
    ):
        assert text in bibtex


def test_each_address_of_this_project_is_its_homepage() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    command = ["git", "grep", "-ohE", ADDRESS]
    found = subprocess.check_output(command, cwd=ROOT, text=True)
    owners = {one.split("/")[-2].removesuffix(".github.io") for one in found.split()}
    assert owners == {project["urls"]["Homepage"].split("/")[-2]}
