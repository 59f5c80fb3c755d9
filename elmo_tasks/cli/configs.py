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
from typing import Any

from elmo_tasks.cli.arguments import add_json, path
from elmo_tasks.errors import InputError
from elmo_tasks.resources import (
    DATA_VARIABLE,
    SCALES,
    configs_root,
    fixtures_root,
    scale_folder,
)

DESCRIPTION = (
    "List the configs for `elmo-tasks train NAME --scale SCALE`, with the files that each needs in"
    f" {DATA_VARIABLE}, and the tables for `elmo-tasks ablate NAME`. With --copy, copy them instead."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks configs [--copy DIR]`."""
    one = parser.add_mutually_exclusive_group()
    add_json(one)
    one.add_argument(
        "--copy",
        type=path,
        metavar="DIR",
        help="copy the configs and tables to a new folder",
    )
    parser.set_defaults(func=configs)


def configs(args: argparse.Namespace) -> None:
    """Print the list, or copy the files."""
    from elmo_tasks.cli.running.documents import print_document

    if args.copy is None:
        found = found_configs()
        if args.json:
            print_document(found)
        else:
            print("\n".join(_lines(found)))
        return
    if args.copy.exists():
        raise InputError("expected a new folder, got an existing one", file=args.copy)
    shutil.copytree(configs_root(), args.copy)
    text = f"// The folder of the bundled corpus, word vectors and biLM.\n{json.dumps(str(fixtures_root()))}\n"
    (args.copy / "fixtures.libsonnet").write_text(text, "utf-8")
    print(
        f"{args.copy}/paper has the paper's configs: elmo-tasks train {args.copy}/paper/ner.jsonnet -s DIR"
    )


def found_configs() -> dict[str, list[dict[str, Any]]]:
    """
    The `configs`, each with its `name`, `title` and the files that it `needs` at each
    scale, and the `tables`.
    """
    from elmo_tasks.training.config import files_needed

    root = configs_root()
    configs = []
    for file in sorted((root / "paper").glob("*.jsonnet")):
        needs = {}
        for scale in SCALES:
            config = scale_folder(root, scale) / file.name
            if config.is_file():
                needs[scale] = list(files_needed(config))
        configs.append({"name": file.stem, "title": _title(file), "needs": needs})
    tables = []
    for file in sorted((root / "tables").glob("*.jsonnet")):
        tables.append({"name": file.stem, "title": _title(file)})
    return {"configs": configs, "tables": tables}


def _lines(found: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    for config in found["configs"]:
        yield f"{config['name']}: {config['title']}"
        for scale, files in config["needs"].items():
            yield f"  {scale:5}  {', '.join(files) or 'needs nothing'}"
    yield "tables"
    for table in found["tables"]:
        yield f"  {table['name']}: {table['title']}"


def _title(file: Path) -> str:
    """The first sentence of the comment that a file begins with."""
    lines = file.read_text("utf-8").splitlines()[:3]
    comment = " ".join([line.removeprefix("// ") for line in lines])
    return re.split(r"(?<!al)(?<!Eq)\. ", comment)[0]
