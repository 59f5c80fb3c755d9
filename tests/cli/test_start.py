"""
The help of a command, and the error of a wrong option, need no library that takes long
to import.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from elmo_tasks.cli.arguments import with_arguments
from elmo_tasks.cli.main import COMMANDS, parsers
from tests.cli.test_options import ACTIONS

LIBRARIES = {
    *("torch", "numpy", "h5py", "safetensors", "tqdm"),
    *("allennlp", "transformers", "spacy"),
    *("requests", "filelock", "ssl", "importlib.metadata"),
}

CODE = """
import contextlib, io, json, sys
from elmo_tasks.cli.main import main

found = []
for line in sys.argv[1:]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main(line.split())
            status = 0
        except SystemExit as ended:
            status = ended.code
    found.append((line, status, printed.getvalue(), sorted(sys.modules)))
print(json.dumps(found))
"""
"""Runs commands, and says which modules are imported after each."""


def test_help_and_wrong_options_import_no_library() -> None:
    names = [""]
    for name in COMMANDS:
        names.append(name)
        names += [f"{name} {action}" for action in ACTIONS.get(name, ())]
    lines = [f"{name} --help".strip() for name in names]
    lines += [f"{name} --nosuch".strip() for name in names]
    lines += ["", *ACTIONS]  # without an action, a command prints its help
    done = subprocess.run(
        [sys.executable, "-c", CODE, *lines],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    imported_by: dict[str, list[str]] = {}
    before: set[str] = set()
    for line, status, printed, modules in json.loads(done.stdout):
        if line.endswith("--nosuch"):
            assert status == 2 and "error: " in printed, (line, printed)
        else:
            assert status == 0 and "usage: " in printed, (line, printed)
        new = LIBRARIES & set(modules) - before
        if new:
            imported_by[line] = sorted(new)
            before |= new
    assert imported_by == {}


FETCHING = [
    *("train", "evaluate", "predict", "check", "ablate", "serve", "info", "models"),
    *("elmo", "static", "bilm prepare", "probe wsd", "probe pos", "probe neighbors"),
    *("bilm perplexity", "bilm surprisal", "bilm score"),
]
"""Commands that may download a model or an archive."""

CONSTRUCTING = [
    *("train", "evaluate", "predict", "check", "ablate", "ablate-run", "serve"),
]
"""Commands that construct classes of configs."""


@pytest.mark.parametrize(
    ("option", "expected"),
    [("--download-limit", FETCHING), ("--include-package", CONSTRUCTING)],
)
def test_options_are_where_they_act(option: str, expected: list[str]) -> None:
    found = []
    for parser in all_parsers():
        if option in parser._option_string_actions:
            found.append(parser.prog.removeprefix("elmo-tasks "))
    assert sorted(found) == sorted(expected)


def test_o_means_overrides_in_all_commands() -> None:
    options = [option for parser in all_parsers() for option in parser._actions]
    named = [option for option in options if "-o" in option.option_strings]
    assert len(named) == 4  # train, check, evaluate, predict
    for option in named:
        assert "--overrides" in option.option_strings


def all_parsers() -> Iterator[argparse.ArgumentParser]:
    """Those that have the arguments: of commands, or of their actions."""
    for name in COMMANDS:
        yield from with_arguments(parsers(name)[1][name])
