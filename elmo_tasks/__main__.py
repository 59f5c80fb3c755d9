"""`elmo-tasks COMMAND ...` and `python -m elmo_tasks COMMAND ...`: `allennlp COMMAND ...` with this plugin loaded."""

import argparse
import importlib
import os
import sys
from pathlib import Path

from elmo_tasks.errors import InputError


def main() -> None:
    """Runs `elmo`, which needs no AllenNLP, or AllenNLP's command line."""
    if sys.argv[1:2] != ["elmo"]:
        return _run_allennlp()
    from elmo_tasks.commands.elmo import add_parser

    parser = argparse.ArgumentParser(prog="elmo-tasks")
    add_parser(parser.add_subparsers())
    args = parser.parse_args()
    try:
        args.func(args)
    except InputError as error:
        if os.environ.get("ELMO_TASKS_TRACEBACK"):
            raise
        sys.exit(f"error: {error}")


def _run_allennlp() -> None:
    sys.path.append(str(Path(__file__).parent / "compat" / "site"))
    importlib.import_module("elmo_tasks_plugin")  # as the .pth file does, for a Python that ignores it
    try:
        import allennlp.__main__  # noqa: F401 (sets up logging)
    except ModuleNotFoundError as error:
        install = "pip install 'elmo-tasks[tasks]' && pip install --no-deps allennlp==2.10.1"
        problem = f"all commands but `elmo-tasks elmo` need the package {error.name}: {install}"
        if sys.argv[1:2] not in ([], ["-h"], ["--help"]):
            sys.exit(f"error: {problem}")
        sys.stdout.write(f"usage: elmo-tasks elmo [-h] ...\n\n{problem}\n")
        return
    from allennlp.commands import main as run_command
    from allennlp.common.util import install_sigterm_handler

    install_sigterm_handler()
    run_command(prog="elmo-tasks")


if __name__ == "__main__":
    main()
