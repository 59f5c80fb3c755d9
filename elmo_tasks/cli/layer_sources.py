"""The options of commands that read the layers of a frozen source: a biLM, CoVe or a transformer."""

import argparse

import torch

from elmo_tasks.elmo.source_types import BILM, COVE, TRANSFORMER, LayerSource
from elmo_tasks.elmo.sources import Source, open_source
from elmo_tasks.errors import InputError, needs
from elmo_tasks.resources import embedded_bilm

_CPU = -1

_ARGUMENTS = {"options_file": "options_file", "weight_file": "weight_file", "vectors_file": "cove_vectors"}
_ARGUMENTS |= {"model": "model", "source": "source"}
"""The arguments by the keys of `model.elmo`."""


def add_device(parser: argparse.ArgumentParser) -> None:
    """Adds `--cuda-device`."""
    parser.add_argument("--cuda-device", type=int, default=_CPU, metavar="N", help="GPU; -1 is the CPU (default)")


def device_of(args: argparse.Namespace) -> torch.device:
    """The device of `--cuda-device`. Raises `InputError` if there is no such GPU."""
    gpus, number = torch.cuda.device_count(), args.cuda_device
    if not _CPU <= number < gpus:
        raise InputError(f"--cuda-device {number}: there are {gpus} GPUs, counted from 0; {_CPU} is the CPU")
    return torch.device("cpu" if number == _CPU else f"cuda:{number}")


def add_source_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `open_chosen` reads."""
    add = parser.add_argument
    add("--source", choices=(BILM, COVE, TRANSFORMER), help="of the layers (bilm, or cove if --cove-vectors is given)")
    add("--options-file", metavar="FILE", help="of the biLM, path or URL (the embedded biLM)")
    add("--weight-file", metavar="FILE", help="of the biLM, path or URL (the embedded biLM), or CoVe's")
    add("--cove-vectors", metavar="FILE", help="CoVe's word vectors as text")
    add("--model", metavar="DIR|NAME", help="of --source transformer: a folder, or a model of the Hugging Face hub")
    add("--pieces", choices=("mean", "first", "last"), default="mean", help="a word's vector (mean of its pieces)")
    add("--local-files-only", action="store_true", help="do not download the model")


def open_chosen(args: argparse.Namespace, *, precision: str = "float32") -> tuple[LayerSource, Source]:
    """The source that the options name. Raises `InputError` if they do not go together, or a file is invalid."""
    source = args.source or (BILM if args.cove_vectors is None else COVE)
    given = {key: getattr(args, option) for key, option in _ARGUMENTS.items() if option != "source"}
    files = {key: file for key, file in given.items() if file is not None}
    if source == BILM and not {"options_file", "weight_file"} & files.keys():
        files["options_file"], files["weight_file"] = map(str, embedded_bilm())
    keys = {"precision": precision, "pieces": args.pieces, "local_files_only": args.local_files_only, "source": source}
    with needs("pydantic 'transformers>=4.48,<4.50'"):
        if source != BILM or args.cove_vectors or args.model:
            from elmo_tasks.elmo.embedder_config import check_config

            check_config({**files, **keys})
        names = {key: f"--{argument.replace('_', '-')}" for key, argument in _ARGUMENTS.items()}
        return open_source(given=files, **keys, names=names)


def files_read(args: argparse.Namespace) -> list[str | None]:
    """The files among the options, which a command must not overwrite."""
    return [args.options_file, args.weight_file, args.cove_vectors]
