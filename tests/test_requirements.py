"""The declared packages, their versions, and what AllenNLP needs of them."""

import importlib.metadata as metadata
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.hiding import python
from tests.tiny import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
EXTRAS = PROJECT["optional-dependencies"]
GROUPS = SETTINGS["dependency-groups"]

PINNED_IN_TEXT = re.compile(r"\b([A-Za-z][\w.-]*?)(?:\[[\w,]+\])?==([\w.]+\w)")
READ = (".md", ".py", ".toml", ".yml", "Dockerfile", "Makefile")


def pins() -> dict[str, str]:
    """The packages of requirements.txt and their versions."""
    found = {}
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            assert re.fullmatch(r"[\w.-]+==[\w.]+", line)
            name, version = line.split("==")
            found[canonicalize_name(name)] = version
    return found


def declared() -> list[Requirement]:
    """
    What pyproject.toml requires, but for what is built from the checkout.
    """
    own = {PROJECT["name"], *SETTINGS["tool"]["uv"]["sources"]}
    lines = PROJECT["dependencies"] + SETTINGS["build-system"]["requires"]
    for extra in EXTRAS.values():
        lines = lines + extra
    for group in GROUPS.values():
        lines = lines + group
    found = []
    for line in lines:
        requirement = Requirement(line)
        if requirement.name not in own:
            found.append(requirement)
    return found


def required_by(name: str, extras: Iterable[str]) -> list[Requirement]:
    """What an installed distribution requires on this machine."""
    found = []
    for line in metadata.requires(name) or []:
        requirement = Requirement(line)
        for extra in ("", *extras):
            marker = requirement.marker
            if marker is None or marker.evaluate({"extra": extra}):
                found.append(requirement)
                break
    return found


def closure(requirements: Iterable[Requirement]) -> dict[str, str]:
    """
    The distributions that are required, directly or not, and what requires each. The
    requirements of AllenNLP do not count, nor do those that are not installed.
    """
    waiting = [(requirement, "pyproject.toml") for requirement in requirements]
    found: dict[str, str] = {}
    seen = set()
    while waiting:
        requirement, by = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, *sorted(requirement.extras)) in seen:
            continue
        seen.add((name, *sorted(requirement.extras)))
        found.setdefault(name, by)
        if name != "allennlp":
            try:
                needed = required_by(name, requirement.extras)
            except metadata.PackageNotFoundError:
                continue
            waiting.extend([(one, name) for one in needed])
    return found


def test_every_requirement_has_an_exact_version() -> None:
    names = {canonicalize_name(requirement.name) for requirement in declared()}
    assert names - set(pins()) == set()


def test_no_package_is_missing_where_dependencies_are_not_resolved() -> None:
    """For `pip install --no-deps -r requirements.txt`, after `pip install torch`."""
    exact = pins()
    missing = []
    for name, by in closure(declared()).items():
        of_cuda = name.startswith(("nvidia-", "cuda-", "triton"))
        if name not in exact and by != "torch" and not of_cuda:
            missing.append(f"{name}, for {by}")
    assert missing == []


def test_exact_versions_are_those_that_are_allowed() -> None:
    exact = pins()
    wrong = []
    for requirement in declared():
        version = exact[canonicalize_name(requirement.name)]
        if not requirement.specifier.contains(version):
            wrong.append(f"{requirement}: {version}")
    assert wrong == []


def test_all_files_name_the_same_versions() -> None:
    exact = pins()
    wrong = []
    for path in tracked_files():
        for name, version in PINNED_IN_TEXT.findall(path.read_text()):
            expected = exact.get(canonicalize_name(name), version)
            if version != expected:
                wrong.append(f"{path.relative_to(ROOT)}: {name} {version}")
    assert wrong == []
    (of_uv,) = SETTINGS["tool"]["uv"]["dependency-metadata"]
    assert of_uv["version"] == exact[of_uv["name"]]


def tracked_files() -> Iterator[Path]:
    """Files of the repository, but for tests, which name old versions."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("this is not a git repository")
    for name in done.stdout.split("\0"):
        path = ROOT / name
        if name.endswith(READ) and not name.startswith("tests/") and path.is_file():
            yield path


START = """
import importlib.machinery, importlib.metadata, os, sys

HIDDEN = set(os.environ["HIDDEN"].split())

class Hiding(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            return None
        return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(importlib.machinery.PathFinder)] = Hiding
import importlib
from elmo_tasks.held_back import HELD_BACK
from elmo_tasks.host import register_classes
register_classes()
for name in HELD_BACK:
    importlib.import_module(name)
print(*{name.partition(".")[0] for name in sys.modules})
"""


@pytest.mark.slow
def test_the_extra_tasks_has_what_allennlp_needs_and_no_more(tmp_path: Path) -> None:
    """
    AllenNLP and our classes are imported where nothing else is installed. What is not
    imported then is imported by our code when it is used; pytest by
    `allennlp.common.testing`. `elmo-tasks` is there for its own other extras.
    """
    lines = PROJECT["dependencies"] + EXTRAS["tasks"] + ["allennlp"]
    needed = closure([Requirement(line) for line in lines])
    modules = metadata.packages_distributions()
    hidden = []
    for module, owners in modules.items():
        names = {canonicalize_name(owner) for owner in owners}
        if not names & set(needed) and module != "elmo_tasks":
            hidden.append(module)
    assert {"wandb", "sphinx"} & set(modules) <= set(hidden)
    shown = python(START, tmp_path, HIDDEN=" ".join(hidden)).splitlines()[-1]
    imported = set(shown.split())
    statement = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
    for file in (ROOT / "elmo_tasks").rglob("*.py"):  # what our code imports
        imported.update(statement.findall(file.read_text()))
    unused = []
    for line in EXTRAS["tasks"]:
        name = canonicalize_name(Requirement(line).name)
        owned = []
        for module, owners in modules.items():
            if name in map(canonicalize_name, owners):
                owned.append(module)
        if not imported.intersection(owned):
            unused.append(name)
    assert set(unused) == {"elmo-tasks", "pytest"}
