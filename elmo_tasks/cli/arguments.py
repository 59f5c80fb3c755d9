"""Arguments that several commands of `elmo-tasks` have."""

import argparse
from pathlib import Path
from typing import Any

from elmo_tasks.formats.bilm_files import FORMATS
from elmo_tasks.option_values import InferencePrecision, Quoting
from elmo_tasks.settings import PathLike, choices, wrong_values

STANDARD_INPUT = "-"
"""The name of an input file that stands for the standard input."""


def location(text: str) -> str:
    """The `type` of an argument that is a path, a URL or the name of a model."""
    for wrong in wrong_values("", PathLike, text):
        raise argparse.ArgumentTypeError(str(wrong))
    return text


def path(text: str) -> Path:
    """The `type` of an argument that is a path."""
    return Path(location(text))


def add_actions(parser: argparse.ArgumentParser) -> argparse._SubParsersAction:
    """
    Makes a command with actions, such as `elmo-tasks bilm export`. Without an action
    there is no `func`, and the command's help is printed.
    """
    return parser.add_subparsers(title="actions", metavar="ACTION")


def with_arguments(
    parser: argparse.ArgumentParser,
) -> list[argparse.ArgumentParser]:
    """The parsers of a command's actions; of a command without any, its own."""
    for argument in parser._actions:
        if isinstance(argument, argparse._SubParsersAction):
            return list(argument.choices.values())
    return [parser]


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Adds `--quiet` and `--verbose`, which all commands have."""
    one = parser.add_mutually_exclusive_group()
    one.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="print no progress bars and no warnings",
    )
    one.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also print what the log tells at level INFO",
    )


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Adds `--separator` and `--quoting`, for `read_table`."""
    parser.add_argument(
        "--separator",
        type=_character,
        metavar="CHAR",
        help="what separates the cells of a table, such as ';' or '\\t' (default: a comma in .csv, a tab in .tsv)",
    )
    parser.add_argument(
        "--quoting",
        choices=choices(Quoting),
        default="minimal",
        help="what a quotation mark is in .csv and .tsv: around a cell with separators, line breaks or doubled marks"
        " (minimal, default), or a character like any other (none)",
    )


def _character(text: str) -> str:
    if text == r"\t":
        return "\t"
    if len(text) != 1:
        raise argparse.ArgumentTypeError(f"expected one character, got {text!r}")
    return text


def table_options(args: argparse.Namespace) -> dict[str, Any]:
    """The values of `add_table_options`."""
    return {"separator": args.separator, "quoting": args.quoting}


def add_packages(parser: argparse.ArgumentParser) -> None:
    """Adds `--include-package`, for commands that construct what configs name."""
    parser.add_argument(
        "--include-package",
        metavar="NAME",
        action="append",
        default=[],
        help="import a package that registers more classes; can be repeated",
    )


def add_model(parser: argparse.ArgumentParser, file: str) -> None:
    """Adds the arguments of commands that load a trained model and read a file."""
    add = parser.add_argument
    add(
        "archive_file",
        type=location,
        metavar="ARCHIVE",
        help="a model.tar.gz, its URL, or the folder of a run",
    )
    add("input_file", type=location, metavar="FILE", help=file)
    add_device(parser)
    add(
        "-o",
        "--overrides",
        default="",
        metavar="JSON",
        help="changes to the archive's config, as for elmo-tasks train",
    )
    add_loading(parser)


def add_device(parser: argparse.ArgumentParser) -> None:
    """Adds `--device`, whose value `opened_device` takes."""
    parser.add_argument(
        "--device",
        default="auto",
        help="auto: a GPU of CUDA if there is one, else the CPU (default); or cpu, cuda:0, ..., mps (untested)",
    )


def add_language_model(parser: argparse.ArgumentParser) -> None:
    """Adds `--model`, `--precision` and `--device`, for measuring a language model."""
    parser.add_argument(
        "--model",
        type=location,
        help="the folder of a run (after its first validation), an exported folder, its"
        " ZIP or URL, or hf://OWNER/NAME (default: bundled)",
    )
    parser.add_argument(
        "--precision",
        choices=choices(InferencePrecision),
        default="float32",
        help="data type of the biLM's matrix products; the softmax is always float32 (default: float32)",
    )
    add_device(parser)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Adds `--format`, that of the weights of a biLM."""
    text = "format of the weights: hdf5, which all ELMo packages read (default), or safetensors"
    parser.add_argument("--format", choices=FORMATS, default="hdf5", help=text)


def add_ray(parser: argparse._ActionsContainer, text: str) -> None:
    """Adds `--ray`, for `ray_cluster.connected`; `None` without it."""
    parser.add_argument(
        "--ray",
        nargs="?",
        const="",
        metavar="ADDRESS",
        help=f"{text}, on the cluster at HOST:PORT, or auto, a running one (default: RAY_ADDRESS, else Ray here)",
    )


def add_loading(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that say how an archive is loaded."""
    parser.add_argument(
        "--allow-downloads",
        action="store_true",
        help="download what the archive's config names: files, models, spaCy's packages",
    )
    add_packages(parser)


def model_files(args: argparse.Namespace) -> list[str | Path]:
    """
    The files of the trained model that a command reads, which its outputs must not
    replace.
    """
    archive = Path(args.archive_file)
    files: list[str | Path] = [archive]
    if archive.is_dir():
        files.extend(archive.rglob("*"))
    return files
