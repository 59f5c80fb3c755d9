"""
`elmo-tasks info`: versions, processor, GPUs and data, for bug reports; or what an archive
contains and needs. Only the second needs AllenNLP.
"""

import argparse
import os
import platform
from typing import Any

from elmo_tasks.cli.arguments import location
from elmo_tasks.errors import InputError
from elmo_tasks.resources import DATA_VARIABLE, data_root
from elmo_tasks.system.version import __version__

PACKAGES = (
    "torch",
    "numpy",
    "h5py",
    "allennlp",
    "transformers",
    "spacy",
    "pyarrow",
    "ray",
)


DESCRIPTION = (
    "Print versions, the processor, GPUs and the data root. Include the output in bug"
    " reports. With ARCHIVE, print what a trained model contains and needs."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks info [ARCHIVE]`."""
    parser.add_argument(
        "archive_file",
        type=location,
        metavar="ARCHIVE",
        nargs="?",
        help="describe this model.tar.gz instead, and say what it needs; builds no model",
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> None:
    """Print a line for each."""
    if args.archive_file:
        from elmo_tasks.host import register_classes

        register_classes()
        from elmo_tasks.training.archives.info import describe

        lines = lines_of_archive(describe(args.archive_file))
    else:
        lines = _lines_of_machine()
    print("\n".join(lines))


def _lines_of_machine() -> list[str]:
    """What the versions, the processor and the data root are."""
    import torch

    from elmo_tasks.elmo.devices import cpu_products, cpu_type

    packages = [f"{name} {_version(name)}" for name in PACKAGES]
    numbers = range(torch.cuda.device_count())
    gpus = [torch.cuda.get_device_name(number) for number in numbers]
    try:
        data = str(data_root() or f"none, {DATA_VARIABLE} is not set")
    except InputError as error:
        data = str(error)
    return [
        f"elmo-tasks {__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(packages),
        f"CPU: {cpu_type()}; {os.cpu_count()} cores, {torch.get_num_threads()} threads",
        f"vector units: {cpu_products()}",
        f"GPU: {', '.join(gpus) or 'none'}",
        f"data: {data}",
    ]


def lines_of_archive(found: dict[str, Any]) -> list[str]:
    """What `describe` gives, as text."""
    tensors, numbers = found["tensors"], found["numbers"]
    words = []
    for name, count in found["vocabulary"].items():
        words.append(f"{name} {count:,}")
    predictor = found["predictor"] or "none, so predict needs --predictor"
    lines = [
        f"model: {found['model']}, {numbers:,} numbers in {tensors:,} tensors",
        f"dataset reader: {found['dataset_reader']}",
        f"predictor: {predictor}",
        f"trained with: AllenNLP {found['allennlp'] or '(unknown version)'}",
        f"vocabulary: {', '.join(words) or 'empty'}",
    ]
    for need in found["needs"]:
        if need["found"]:
            lines.append(f"needs: {need['name']}, found: {need['found']}")
        else:
            lines.append(f"needs: {need['what']} {need['name']}, {need['advice']}")
    return lines


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
