"""`elmo-tasks info`: versions, processor, GPUs and data, for bug reports."""

import argparse
import os
import platform

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
    " reports."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`elmo-tasks info` has no arguments."""
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> None:
    """Print a line for each."""
    print("\n".join(_lines_of_machine()))


def _lines_of_machine() -> list[str]:
    """What the versions, the processor and the data root are."""
    import torch

    from elmo_tasks.elmo.devices import cpu_products, cpu_type

    packages = [f"{name} {_version(name)}" for name in PACKAGES]
    gpus = []
    for number in range(torch.cuda.device_count()):
        gpus.append(torch.cuda.get_device_name(number))
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


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
