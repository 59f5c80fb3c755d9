"""
`elmo-tasks COMMAND ...` and `python -m elmo_tasks COMMAND ...`.

`--help` and the error of a wrong option do not wait for libraries. For that, this module
and that of a command import at their top only what arguments need, which is neither
torch nor AllenNLP, NumPy, requests, tqdm or a module of ours that imports one of them.
What a command runs is imported in the function that runs it. Names, ranges and defaults
that arguments share with that function are in `elmo_tasks.option_values`.
"""

import argparse
import importlib
import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn

from elmo_tasks.cli.streams import (
    discard_unwritten,
    escape_other_characters,
    open_closed_streams,
    outlast_readers,
)
from elmo_tasks.errors import (
    ALLENNLP,
    Interrupted,
    needs,
    one_line,
)
from elmo_tasks.settings import Positive, number
from elmo_tasks.version import __version__

COMMANDS = {
    "train": "train a model from a config",
    "evaluate": "score a trained model on a file",
    "predict": "predict with a trained model",
    "configs": "list the configs, or copy them to edit them",
    "check": "list all problems of configs, without training",
    "ablate": "run the rows of a table: the paper's, or your own",
    "ablate-run": "run one row of a table once (called by ablate)",
    "probe": "score the layers on word senses, parts of speech and neighbours",
    "bilm": "prepare text for a biLM; export a biLM, or measure its perplexity and surprisal",
    "elmo": "write the ELMo vectors of a text to a file",
    "static": "write one vector per word, the mean of its ELMo vectors in a text",
    "models": "list, download or remove the published ELMo models",
    "info": "print versions, processor, GPUs and data root, for bug reports",
    "data": "list the files that scale `paper` needs, and where to get them",
    "serve": "show the predictions of trained models in the browser",
}
"""
The help of each command, which is the module of the same name in `elmo_tasks.cli`.
"""

LIGHT = ("elmo", "static", "bilm", "probe", "configs", "models", "info", "data")
"""Commands without AllenNLP."""

IN_OTHER_PROCESSES = ("serve",)
"""Commands that load AllenNLP in processes of their own."""

TO_FILES = ("train", "ablate", "ablate-run", "bilm", "elmo", "static")
"""Commands whose results are files: they go on when nobody reads what they print."""

ENDING = ("SIGTERM", "SIGHUP")
"""
Signals that end a command as Ctrl-C does, so that it removes its temporary files. A
closed terminal sends SIGHUP.
"""

DOWNLOAD_LIMIT = (
    "largest file to download, in 10^9 bytes (default: the size in the list of models,"
    " else 4)"
)
PACKAGES = "import a package that registers more classes; can be repeated"
TRACEBACK_VARIABLE = "ELMO_TASKS_TRACEBACK"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with the exit status 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

    def print_help(self, file: Any = None) -> None:
        """
        argparse ignores it when the help cannot be written; here it raises `OSError`.
        """
        print(self.format_help(), end="", file=file, flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """
    Runs a command. Errors of the user and interruptions are one line on stderr; exit
    status 1, or 128 + signal.
    """
    if argv is None:
        argv = sys.argv[1:]
    arguments = list(argv)
    open_closed_streams()
    escape_other_characters()
    is_to_file = bool(arguments) and arguments[0] in TO_FILES
    asks_for_help = "--help" in arguments or "-h" in arguments
    outlast_readers(output=is_to_file and not asks_for_help)
    received: list[int] = []
    _end_by_signals(received.append)
    logging.basicConfig(
        format="%(levelname)s: %(message)s",
        level=os.environ.get("ALLENNLP_LOG_LEVEL", "WARNING"),
    )
    logging.getLogger("filelock").setLevel(logging.WARNING)
    # AllenNLP's trainer causes this one.
    warnings.filterwarnings("ignore", r"`torch\.cuda\.amp", FutureWarning)
    try:
        run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        advice = ""
        if isinstance(interrupt, Interrupted):
            advice = f"; {interrupt}"
        print(f"\ninterrupted{advice}", file=sys.stderr)
        received.append(signal.SIGINT)  # unless another came before
        sys.exit(128 + received[0])
    except BrokenPipeError:  # of `| head`
        sys.exit(128 + signal.SIGPIPE)
    except Exception as error:
        line = one_line(error)
        if line is None or os.environ.get(TRACEBACK_VARIABLE):
            raise
        sys.exit(f"error: {line}")
    finally:
        discard_unwritten()


def _end_by_signals(receive: Callable[[int], None]) -> None:
    """
    From now on the signals `ENDING` raise `KeyboardInterrupt`, unless they are ignored,
    as by nohup.
    """

    def end(number: int, frame: FrameType | None) -> NoReturn:
        receive(number)
        if hasattr(signal, "SIGHUP"):  # a closed terminal sends it, then the shell
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        raise KeyboardInterrupt

    for name in ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)


def run(arguments: list[str]) -> None:
    """Runs a command; errors are raised."""
    name = None
    if arguments and arguments[0] in COMMANDS:
        name = arguments[0]
    if name in ("train", "ablate-run") and not sys.stderr.isatty():
        os.environ.setdefault("TQDM_DISABLE", "1")  # read when tqdm is imported
    parser, commands = parsers(name)
    args = parser.parse_args(arguments)
    if name is None:
        parser.print_help()
        return
    if "func" not in args:  # an action is missing
        commands[name].print_help()
        return
    if name not in LIGHT and name not in IN_OTHER_PROCESSES:
        from elmo_tasks.host import register_classes

        register_classes(args.include_package)
    from elmo_tasks.formats.fetching.fetch import set_download_limit

    set_download_limit(args.download_limit)
    if name not in LIGHT:
        args.func(args)
        return
    with needs(ALLENNLP):  # of the core, such as torch
        args.func(args)


def parsers(chosen: str | None = None) -> tuple[Parser, dict[str, Parser]]:
    """
    The parser of `elmo-tasks` and those of the commands by name. Only that of the
    chosen command has arguments, since they import its module.
    """
    others = [name for name in COMMANDS if name not in (*LIGHT, "ablate-run")]
    parser = Parser(
        prog="elmo-tasks",
        description="ELMo: vectors of a text, the six task models, the biLM and the paper's tables.",
        epilog=f"{', '.join(others)} need AllenNLP: pip install {ALLENNLP}",
    )
    parser.add_argument(
        "--version", action="version", version=f"elmo-tasks {__version__}"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, text in COMMANDS.items():
        if name == chosen:
            _add_command(commands, name, text)
        elif name != "ablate-run":
            commands.add_parser(name, help=text)
    return parser, dict(commands.choices)


def _add_command(
    parsers: "argparse._SubParsersAction[Parser]", name: str, text: str
) -> None:
    """
    Adds a command with its own arguments and those of all commands. Imports its module.
    """
    module = importlib.import_module(f"elmo_tasks.cli.{name.replace('-', '_')}")
    parser = parsers.add_parser(name, description=module.DESCRIPTION, help=text)
    module.add_arguments(parser)
    parser.add_argument(
        "--download-limit", metavar="GB", type=number(Positive), help=DOWNLOAD_LIMIT
    )
    if name not in LIGHT:
        parser.add_argument(
            "--include-package",
            metavar="NAME",
            action="append",
            default=[],
            help=PACKAGES,
        )
