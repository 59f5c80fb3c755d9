"""
`elmo-tasks info`: versions, processor, GPUs and data, for bug reports; or what an archive
contains and needs. Only the second needs AllenNLP.
"""

import argparse
import os
import platform

from elmo_tasks.cli.arguments import add_download_limit, add_local, location
from elmo_tasks.errors import InputError
from elmo_tasks.resources import DATA_VARIABLE, data_root
from elmo_tasks.version import __version__

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
    add_local(parser)
    add_download_limit(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> None:
    """Print a line for each."""
    if args.archive_file:
        _describe(args.archive_file, dict(args.local))
        return
    import torch

    from elmo_tasks.elmo.devices import cpu_products, cpu_type

    print(
        f"elmo-tasks {__version__}, Python {platform.python_version()}, {platform.platform()}"
    )
    print(", ".join([f"{name} {_version(name)}" for name in PACKAGES]))
    print(
        f"CPU: {cpu_type()}; {os.cpu_count()} cores, {torch.get_num_threads()} threads"
    )
    print(f"vector units: {cpu_products()}")
    numbers = range(torch.cuda.device_count())
    names = [torch.cuda.get_device_name(number) for number in numbers]
    print(f"GPU: {', '.join(names) or 'none'}")
    try:
        root = data_root()
    except InputError as error:
        print(f"data: {error}")
    else:
        shown = f"none, {DATA_VARIABLE} is not set"
        if root is not None:
            shown = str(root)
        print(f"data: {shown}")


def _describe(file: str, local: dict[str, str]) -> None:
    from elmo_tasks.host import register_classes

    register_classes()
    from elmo_tasks.training.archives.info import describe

    for line in describe(file, local):
        print(line)


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
