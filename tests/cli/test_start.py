"""
The help of a command, and the error of a wrong option, need no library that takes long
to import.
"""

import json
import subprocess
import sys

from elmo_tasks.cli.main import COMMANDS
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
