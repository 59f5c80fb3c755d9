"""
Every command of tests/docs/messages.md that fails "as shown" is run, and prints what is
shown; the words of the other messages stand in the code that raises them.
docs/troubleshooting.md explains some of these messages.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from elmo_tasks.system.files import exclusive
from tests.docs.test_examples import FENCE
from tests.tiny import FIXTURES, ROOT, bilm_files

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs/troubleshooting.md"
MESSAGES = ROOT / "tests/docs/messages.md"
HEADING = re.compile(r"^### `(.*)`$", re.MULTILINE)
FAILS = "bash no-run: fails as shown"
ALONE = "bash no-run: fails as shown, in a separate process"
LOCKED = "bash no-run: fails as shown, while another training runs"

WITHOUT_SPACY = """
import sys

class WithoutSpacy:
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "spacy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, WithoutSpacy())
"""


class Section(NamedTuple):
    """A message: its heading, command, output, and how it is run."""

    message: str
    command: str
    output: str
    info: str


def pattern(text: str) -> re.Pattern[str]:
    """Finds a text of the file: `...` is anything, blanks and line ends are alike."""
    parts = []
    for part in text.split("..."):
        parts.append(r"\s+".join([re.escape(word) for word in part.split()]))
    return re.compile(r".*?".join(parts), re.DOTALL)


SECTIONS = []
for part in MESSAGES.read_text("utf-8").split("\n### ")[1:]:
    command, output = list(FENCE.finditer(part))[:2]
    message = part.partition("\n")[0].strip("`")
    SECTIONS.append(Section(message, command["text"], output["text"], command["info"]))
RUN = [one for one in SECTIONS if one.info in (FAILS, ALONE, LOCKED)]
NOT_RUN = [one for one in SECTIONS if one.info not in (FAILS, ALONE, LOCKED)]


OF_OTHERS = ("No matching distribution", "operator torchvision")
"""How messages of pip and torchvision begin."""


def shell(command: str, folder: Path, environment: dict[str, str]) -> str:
    """What a command prints on stdout and stderr, whether it fails or not."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return done.stdout


@pytest.fixture(scope="module")
def prepared(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder in which the first block of the file was run."""
    folder = tmp_path_factory.mktemp("troubleshooting")
    (folder / "fixtures").symlink_to(FIXTURES)
    shutil.copytree(ROOT / "training_config", folder / "training_config")
    block = FENCE.search(MESSAGES.read_text("utf-8"))
    assert block is not None
    printed = shell(f"set -e\n{block['text']}", folder, environment)
    assert (folder / "vectors.hdf5").exists(), printed
    bilm_files(folder / "elsewhere2", seed=9)
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables with which `elmo-tasks` and `allennlp` are processes of their own."""
    folder = tmp_path_factory.mktemp("alone")
    for name, module in (("elmo-tasks", "elmo_tasks"), ("allennlp", "allennlp")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        program.chmod(0o755)
    own = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder)}
    return os.environ | own | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


@pytest.fixture
def variables(
    request: pytest.FixtureRequest,
    environment: dict[str, str],
    alone: dict[str, str],
    prepared: Path,
    tmp_path: Path,
) -> Iterator[dict[str, str]]:
    """What the command of a section needs."""
    section = request.param
    if section.info == LOCKED:
        with exclusive(prepared / "out/ner"):
            yield environment
    elif section.info == FAILS:
        without_root = dict(environment)
        del without_root["ELMO_TASKS_DATA"]
        yield without_root
    elif section.message == "this needs the package":
        (tmp_path / "sitecustomize.py").write_text(WITHOUT_SPACY)
        yield alone | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    else:
        yield alone


@pytest.mark.parametrize(
    ("section", "variables"),
    [(one, one) for one in RUN],
    indirect=["variables"],
    ids=[one.message for one in RUN],
)
def test_the_command_prints_the_message(
    section: Section, variables: dict[str, str], prepared: Path
) -> None:
    assert pattern(section.message).search(section.output), "not in the output shown"
    printed = shell(section.command, prepared, variables)
    assert pattern(section.output).search(printed), printed[-3000:]


@pytest.mark.parametrize("section", NOT_RUN, ids=lambda one: one.message)
def test_the_message_is_one_of_the_code(section: Section) -> None:
    assert pattern(section.message).search(section.output), "not in the output shown"
    if section.message.startswith(OF_OTHERS):
        return
    sources = []
    for file in sorted((ROOT / "elmo_tasks").rglob("*.py")):
        sources.append(file.read_text("utf-8"))
    assert section.message in "\n".join(sources)


def test_the_page_explains_messages_of_commands() -> None:
    headings = HEADING.findall(PAGE.read_text("utf-8"))
    assert len(headings) >= 10
    for heading in headings:
        assert any(pattern(heading).search(one.output) for one in SECTIONS), heading
