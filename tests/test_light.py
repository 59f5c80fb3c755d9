"""
The core in a Python that can import what it requires, and the dependencies of that,
alone. `make test-core` runs these where nothing else is installed.
"""

import importlib.metadata as metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

FORBID = """
import importlib.metadata, os, runpy, sys

FORBIDDEN = set(os.environ["FORBIDDEN"].split())

class Forbid:
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in FORBIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Forbid())

from_name = importlib.metadata.Distribution.from_name

def from_allowed_name(name):
    if name.replace("-", "_") in FORBIDDEN:
        raise importlib.metadata.PackageNotFoundError(name)
    return from_name(name)

importlib.metadata.Distribution.from_name = from_allowed_name
"""
"""
Modules and distributions that are not there: neither can be imported, nor has the
other a version.
"""


def required(names: list[str]) -> set[str]:
    """Distributions, and what they require, directly or not."""
    found = set[str]()
    names = list(names)
    while names:
        name = re.split(r"[^\w.-]", names.pop())[0].lower().replace("_", "-")
        if name not in found:
            found.add(name)
            try:
                lines = metadata.requires(name) or []
            except metadata.PackageNotFoundError:
                continue
            names += [line for line in lines if "extra ==" not in line]
    return found


def without(names: list[str]) -> str:
    """The modules of all distributions but these and those that they require."""
    needed = required(names)
    found = set()
    for module, owners in metadata.packages_distributions().items():
        if not {owner.lower().replace("_", "-") for owner in owners} & needed:
            found.add(module)
    return " ".join(found - {"elmo_tasks"})


@pytest.fixture(scope="module")
def core() -> list[str]:
    """What the core requires."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names: list[str] = settings["project"]["dependencies"]
    return names


@pytest.fixture(scope="module")
def forbidden(core: list[str]) -> str:
    return without(core)


def run(
    forbidden: str, folder: Path, code: str, *arguments: str
) -> tuple[int, str, str]:
    """Exit status, stdout and stderr."""
    variables = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "FORBIDDEN": forbidden,
    }
    command = [
        sys.executable,
        "-W",
        "error::ImportWarning",
        "-c",
        FORBID + code,
        *arguments,
    ]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


COMMAND = (
    "sys.argv[0] = 'elmo-tasks'; runpy.run_module('elmo_tasks', run_name='__main__')"
)


CORE = {
    "elmo in.txt v.hdf5 --average": "3 sentences, 8 tokens",
    "static in.txt --output v.txt --min-count 1": "v.txt",
    "bilm prepare in.txt --output text --heldout 0": "1 files, 2 sentences, 8 words",
    "bilm random random": "weights.hdf5",
    "bilm perplexity in.txt": "/in.txt",
    "bilm surprisal in.txt --output s.tsv": "weights of",
    "bilm score --pairs pairs.jsonl": "100.00",
    "probe neighbors ended --corpus in.txt": "biLM 2, nearest by cosine:",
    "models": "elmo-original",
    "info": "allennlp not installed",
}
"""What commands print where nothing but the core is installed."""

EACH = """
from elmo_tasks.cli.main import main

os.environ["ELMO_TASKS_DATA"] = "."
for line in sys.argv[1:]:
    try:
        main(line.split())
    except SystemExit as end:
        print(end.code)
    print("=====")
"""


def test_commands_of_the_core(forbidden: str, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("She heard the play .\n\nIt ended .\n")
    pair = '{"good": "She heard the play .", "bad": "play the heard She ."}'
    (tmp_path / "pairs.jsonl").write_text(pair)
    status, shown, errors = run(forbidden, tmp_path, EACH, *CORE)
    assert status == 0, errors
    printed = shown.split("=====\n")
    for text, (command, expected) in zip(printed, CORE.items(), strict=False):
        assert expected in text, f"{command}: {text}\n{errors}"


def test_parts_of_speech_need_scikit_learn_alone(
    core: list[str], tmp_path: Path
) -> None:
    for name, tag in (("train", "DT"), ("test", "IN")):
        lines = f"1\tthe\t_\t_\t{tag}\t_\n2\tplay\t_\t_\tNN\t_\n"
        (tmp_path / name).write_text(lines.replace("_\n", "_\t_\t_\t_\t_\n"))
    status, shown, errors = run(
        without([*core, "scikit-learn"]),
        tmp_path,
        COMMAND,
        *("probe", "pos", "train", "test"),
    )
    assert (status, "biLM 2" in shown) == (0, True), errors


NAMES = """
import elmo_tasks
print("torch" in sys.modules)
from elmo_tasks import Elmo, WordSurprisal
print(Elmo.__module__, len(WordSurprisal.from_pretrained().score(["It ended ."])))
"""


def test_names_of_the_package(forbidden: str, tmp_path: Path) -> None:
    status, shown, errors = run(forbidden, tmp_path, NAMES)
    expected = "False\nelmo_tasks.elmo.sentence_embedder 1\n"
    assert (status, shown) == (0, expected), errors


def test_without_modules_of_unix(forbidden: str, tmp_path: Path) -> None:
    """As on Windows."""
    code = "from elmo_tasks.elmo import Elmo; print(Elmo.from_files().embed(['It ended .'], progress=True)[0].shape)"
    status, shown, errors = run(f"{forbidden} fcntl resource", tmp_path, code)
    assert (status, shown) == (0, "(3, 3, 320)\n"), errors
    assert "3.00/3.00" in errors


SEVERAL = """
import json
from elmo_tasks.cli.main import main

for line in sys.argv[1:]:
    try:
        main(line.split())
    except SystemExit as end:
        print(end.code)
"""


SPACY = "error: this needs the package spacy (pip install spacy, or use the tokenizer basic)"
TASKS = "(pip install 'elmo-tasks[tasks]'"
NEEDS = {
    "elmo in.txt out.hdf5 --tokenizer spacy:en": SPACY,
    "elmo in.txt out.hdf5 --tokenizer spacy:la": "this needs the package spacy",
    "static in.txt --output v.txt --tokenizer spacy:en": SPACY,
    "bilm prepare in.txt --output text --language en": SPACY,
    "bilm surprisal in.txt --output s.tsv --tokenizer spacy:en": SPACY,
    "probe pos in.txt other.txt": "the package sklearn (pip install scikit-learn)",
    "elmo in.txt out.hdf5 --model hf://a/b": "cannot fetch hf://a/b: ",
    "train config.jsonnet -s out": TASKS,
    "train ner -s out": TASKS,
    "check ner": TASKS,
    "evaluate model.tar.gz in.txt": TASKS,
    "predict model.tar.gz in.txt": TASKS,
    "ablate demo -s out": TASKS,
    "serve model.tar.gz": "(pip install 'elmo-tasks[web]'",
    "info model.tar.gz": TASKS,
}
"""What the end of each command says where only the core is installed."""


def test_what_needs_more_says_what_to_install(forbidden: str, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("It ended.\n")
    status, shown, errors = run(forbidden, tmp_path, SEVERAL, *NEEDS, "--help")
    lines = shown.splitlines()
    for line, (command, message) in zip(lines, NEEDS.items(), strict=False):
        assert message in line, f"{command}: {line}\n{errors}"
    assert (status, lines[-1]) == (0, "0")
    assert "usage: elmo-tasks" in shown
    assert "Traceback" not in errors


WITHOUT_TORCH = (
    "elmo in.txt out.hdf5",
    "elmo in.txt out --ray",
    "static in.txt --output v.txt",
    "train ner -s out",
    "ablate demo -s out",
    "ablate-run out",
    "bilm export out official",
    "probe wsd in",
)


def test_a_command_without_torch_says_what_to_install(tmp_path: Path) -> None:
    pytest.importorskip("allennlp", reason="else it is what is missing first")
    (tmp_path / "in.txt").write_text("It ended.\n")
    status, shown, errors = run("torch", tmp_path, SEVERAL, *WITHOUT_TORCH)
    lines = shown.splitlines()
    for line, command in zip(lines, WITHOUT_TORCH, strict=True):
        assert f"error: this needs the package torch {TASKS}" in line, command
    assert (status, "Traceback" in errors) == (0, False), errors
