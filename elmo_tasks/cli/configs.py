"""
`elmo-tasks configs`: which configs and tables there are, what they need, and copies of
them for editing.
"""

import argparse
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from elmo_tasks.cli.arguments import path
from elmo_tasks.errors import InputError
from elmo_tasks.resources import DATA_VARIABLE, SCALES, configs_root, fixtures_root

DESCRIPTION = (
    "List the configs for `elmo-tasks train NAME --scale SCALE`, with the files that each needs in"
    f" {DATA_VARIABLE}, and the tables for `elmo-tasks ablate NAME`. With --copy, copy them instead."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks configs [--copy DIR]`."""
    parser.add_argument(
        "--copy",
        type=path,
        metavar="DIR",
        help="copy the configs and tables to a new folder",
    )
    parser.set_defaults(func=configs)


def configs(args: argparse.Namespace) -> None:
    """Print the list, or copy the files."""
    if args.copy is None:
        print("\n".join(listed()))
        return
    if args.copy.exists():
        raise InputError("expected a new folder, got an existing one", file=args.copy)
    shutil.copytree(configs_root(), args.copy)
    text = f"// The folder of the bundled corpus, word vectors and biLM.\n{json.dumps(str(fixtures_root()))}\n"
    (args.copy / "fixtures.libsonnet").write_text(text, "utf-8")
    print(
        f"{args.copy}/paper has the paper's configs: elmo-tasks train {args.copy}/paper/ner.jsonnet -s DIR"
    )


def listed() -> Iterator[str]:
    """
    Lines: each config with its task and what it needs at each scale, then the tables.
    """
    from elmo_tasks.training.config import files_needed

    root = configs_root()
    for file in sorted((root / "paper").glob("*.jsonnet")):
        yield f"{file.stem}: {_title(file)}"
        for folder in SCALES:
            config = root / folder / file.name
            if config.is_file():
                needed = ", ".join(files_needed(config)) or "needs nothing"
                yield f"  {folder:5}  {needed}"
    yield "tables"
    for file in sorted((root / "tables").glob("*.jsonnet")):
        yield f"  {file.stem}: {_title(file)}"


def _title(file: Path) -> str:
    """The first sentence of the comment that a file begins with."""
    lines = file.read_text("utf-8").splitlines()[:3]
    comment = " ".join([line.removeprefix("// ") for line in lines])
    return re.split(r"(?<!al)(?<!Eq)\. ", comment)[0]
