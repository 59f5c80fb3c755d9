"""
`elmo-tasks configs`: which configs and tables there are, and copies of them for editing.
"""

import argparse
import json
import re
import shutil

from elmo_tasks.cli.arguments import path
from elmo_tasks.errors import InputError
from elmo_tasks.resources import configs_root, fixtures_root
from elmo_tasks.system.files import new_folder

DESCRIPTION = (
    "List the configs for `elmo-tasks train NAME --scale SCALE`, and the tables for"
    " `elmo-tasks ablate NAME`. With --copy, copy them instead."
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
    root = configs_root()
    if args.copy is None:
        for kind, folder in (("configs", "paper"), ("tables", "tables")):
            print(kind)
            for file in sorted((root / folder).glob("*.jsonnet")):
                lines = file.read_text("utf-8").splitlines()[:3]
                comment = " ".join([line.removeprefix("// ") for line in lines])
                sentence, *_ = re.split(r"(?<!al)(?<!Eq)\. ", comment)
                print(f"  {file.stem}: {sentence}")
        print(f"bundled data: {fixtures_root()}")
        return
    text = f"// The folder of the bundled corpus, word vectors and biLM.\n{json.dumps(str(fixtures_root()))}\n"
    try:
        with new_folder(args.copy) as made:
            shutil.copytree(root, made, dirs_exist_ok=True)
            (made / "fixtures.libsonnet").write_text(text, "utf-8")
    except OSError as error:  # shutil's lists one for each file
        raise InputError("cannot write the configs", file=args.copy) from error
    print(
        f"{args.copy}/paper has the paper's configs: elmo-tasks train {args.copy}/paper/ner.jsonnet -s DIR"
    )
