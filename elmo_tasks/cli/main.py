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
import io
import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from types import FrameType
from typing import NoReturn

from elmo_tasks.cli.arguments import (
    add_verbosity,
    location,
    path,
    with_arguments,
)
from elmo_tasks.errors import (
    ALLENNLP,
    Interrupted,
    in_one_line,
    needs,
    one_line,
    own_place,
)
from elmo_tasks.system.version import __version__

COMMANDS = {
    "train": "train a model from a config",
    "evaluate": "score a trained model on a file",
    "predict": "predict with a trained model",
    "configs": "list the configs, or copy them to edit them",
    "check": "say what is wrong with configs, without training",
    "ablate": "run the rows of a table: the paper's, or your own",
    "ablate-run": "run one row of a table once (called by ablate)",
    "probe": "score the layers on word senses, parts of speech and neighbours",
    "bilm": "prepare text for a biLM; export a biLM, or measure its perplexity and surprisal",
    "elmo": "write the ELMo vectors of a text to a file",
    "static": "write one vector per word, the mean of its ELMo vectors in a text",
    "models": "list or download the published ELMo models",
    "info": "print versions, processor, GPUs and data root, for bug reports",
    "serve": "show the predictions of trained models in the browser",
}
"""
The help of each command, which is the module of the same name in `elmo_tasks.cli`.
"""

LIGHT = ("elmo", "static", "bilm", "probe", "configs", "models", "info")
"""Commands without AllenNLP."""

LATER = ("serve",)
"""Commands that load AllenNLP themselves, in each of their processes."""

TRAINING = ("train", "ablate", "ablate-run")
"""Commands whose threads wait for one another at each small step."""

ENDING = ("SIGTERM", "SIGHUP")
"""
Signals that end a command as Ctrl-C does, so that it removes its temporary files. A
closed terminal sends SIGHUP.
"""

LOG_VARIABLE = "ALLENNLP_LOG_LEVEL"
"""AllenNLP's variable for the level of the log, which child processes inherit."""

TRACEBACK_VARIABLE = "ELMO_TASKS_TRACEBACK"


def main(argv: Sequence[str] | None = None) -> None:
    """
    Runs a command. Errors of the user and interruptions are one line on stderr; exit
    status 1, or 128 + signal.
    """
    if argv is None:
        argv = sys.argv[1:]
    arguments = list(argv)
    show_any_character()
    received: list[int] = []
    _end_by_signals(received.append)
    logging.basicConfig(
        format="%(levelname)s: %(message)s",
        level=os.environ.get(LOG_VARIABLE, "WARNING"),
    )
    logging.getLogger("filelock").setLevel(logging.WARNING)
    # AllenNLP's trainer causes this one.
    warnings.filterwarnings("ignore", r"`torch\.cuda\.amp", FutureWarning)
    try:
        run(arguments)
        print(end="", flush=True)
    except KeyboardInterrupt as interrupt:
        advice = ""
        if isinstance(interrupt, Interrupted):
            advice = f"; {interrupt}"
        print(f"\ninterrupted{advice}", file=sys.stderr)
        received.append(signal.SIGINT)  # unless another came before
        sys.exit(128 + received[0])
    except BrokenPipeError:  # of `| head`; Python writes the rest at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except Exception as error:
        is_readable = one_line(error) is not None or own_place(error) != ""
        if not is_readable or os.environ.get(TRACEBACK_VARIABLE):
            raise
        sys.exit(f"error: {in_one_line(error)}")


def show_any_character() -> None:
    """
    From now on stdout shows a character that its encoding lacks as `\\xe5`, as stderr
    always does: a terminal of ASCII, or the name of a file that is not UTF-8.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # else that of a notebook
        sys.stdout.reconfigure(errors="backslashreplace")


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
    chosen = [name for name in arguments[:1] if name in COMMANDS]
    parser, commands = parsers(*chosen)
    args = parser.parse_args(arguments)
    if args.print_completion is not None:
        _print_completion(args.print_completion)
        return
    if not chosen:
        parser.print_help()
        return
    name = chosen[0]
    if "func" not in args:  # an action is missing
        commands[name].print_help()
        return
    _set_verbosity(args)
    if name in TRAINING and "OMP_WAIT_POLICY" not in os.environ:
        # Threads that wait for another one sleep soon, unless the user has chosen. By
        # default they spin longer, and where another program keeps that one from running,
        # a training takes many times as long. PyTorch's OpenMP reads it when it is loaded.
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    if name not in (*LIGHT, *LATER):
        from elmo_tasks.host import register_classes

        register_classes(args.include_package)
    # What a light command lacks is of the core, such as torch.
    with needs(ALLENNLP) if name in LIGHT else nullcontext():
        args.func(args)


def _print_completion(shell: str) -> None:
    """
    Prints the script with which a shell completes a command line, paths to the names of
    files. Raises `InputError` if shtab is not installed.
    """
    with needs("shtab"):
        import shtab
    parser, commands = parsers(*[name for name in COMMANDS if name != "ablate-run"])
    for command in commands.values():
        for one in with_arguments(command):
            for argument in one._actions:
                if argument.type in (location, path):
                    argument.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell=shell))


def _set_verbosity(args: argparse.Namespace) -> None:
    """
    The level of the log, and whether libraries show bars. Both are also variables,
    since some libraries read them when they are imported, as child processes do.
    """
    level = None
    if args.quiet:
        level = "ERROR"
    elif args.verbose:
        level = "INFO"
    if level is not None:
        os.environ[LOG_VARIABLE] = level
        logging.getLogger().setLevel(level)
    if args.quiet or not sys.stderr.isatty():
        os.environ["TQDM_DISABLE"] = "1"
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"


def parsers(
    *chosen: str,
) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """
    The parser of `elmo-tasks` and those of the commands by name. Only those of the
    chosen commands have arguments, since they import their modules.
    """
    others = [name for name in COMMANDS if name not in (*LIGHT, "ablate-run")]
    parser = argparse.ArgumentParser(
        prog="elmo-tasks",
        description="ELMo: vectors of a text, the six task models, the biLM and the paper's tables.",
        epilog=f"{', '.join(others)} need AllenNLP: pip install {ALLENNLP}",
    )
    parser.set_defaults(include_package=())
    parser.add_argument(
        "--version", action="version", version=f"elmo-tasks {__version__}"
    )
    parser.add_argument(
        "--print-completion",
        choices=("bash", "zsh"),
        help="print a script for the shell, which then completes command lines (needs shtab)",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, text in COMMANDS.items():
        if name in chosen:
            _add_command(commands, name, text)
        elif name != "ablate-run":
            commands.add_parser(name, help=text)
    return parser, dict(commands.choices)


def _add_command(
    parsers: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str
) -> None:
    """
    Adds a command with its own arguments and those of all commands, which its actions
    have, if there are any. Imports its module.
    """
    module = importlib.import_module(f"elmo_tasks.cli.{name.replace('-', '_')}")
    parser = parsers.add_parser(name, description=module.DESCRIPTION, help=text)
    module.add_arguments(parser)
    for one in with_arguments(parser):
        add_verbosity(one)
