"""The options of commands that read the layers of a frozen source: a biLM, CoVe or a transformer."""

import argparse

import torch

from elmo_tasks.elmo.sources import (
    BILM,
    COVE,
    SOURCES,
    TRANSFORMER,
    LayerSource,
    Source,
    open_bilm,
    open_cove,
    open_transformer,
)
from elmo_tasks.elmo.transformer.encoder import PIECES
from elmo_tasks.errors import InputError
from elmo_tasks.settings import bilm_files

_CPU = -1

_OPTIONS = {BILM: ("options_file", "weight_file"), COVE: ("cove_vectors", "weight_file"), TRANSFORMER: ("model",)}
_ALL = {option for options in _OPTIONS.values() for option in options}


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
    """Add the options that `open_source` reads."""
    add = parser.add_argument
    add("--source", choices=SOURCES, help="of the layers (bilm, or cove if --cove-vectors is given)")
    add("--options-file", metavar="FILE", help="of the biLM, path or URL (that of the scale)")
    add("--weight-file", metavar="FILE", help="of the biLM, path or URL (that of the scale), or CoVe's")
    add("--cove-vectors", metavar="FILE", help="CoVe's word vectors as text")
    add("--model", metavar="DIR|NAME", help="of --source transformer: a folder, or a model of the Hugging Face hub")
    add("--pieces", choices=PIECES, default=PIECES[0], help=f"a word's vector of those of its pieces ({PIECES[0]})")
    add("--local-files-only", action="store_true", help="do not download the model")


def open_source(args: argparse.Namespace, *, precision: str = "float32") -> tuple[LayerSource, Source]:
    """The source that the options name. Raises `InputError` if they do not go together, or a file is invalid."""
    source = args.source or (BILM if args.cove_vectors is None else COVE)
    given = {name for name in _ALL if getattr(args, name) is not None}
    own = set(_OPTIONS[source])
    if given - own or (source != BILM and own - given):
        expected, got = (" and ".join(f"--{name.replace('_', '-')}" for name in sorted(it)) for it in (own, given))
        raise InputError(f"--source {source} needs {expected} alone, got {got or 'none'}")
    if source == TRANSFORMER:
        settings = {"pieces": args.pieces, "local_files_only": args.local_files_only}
        return open_transformer(args.model, precision=precision, **settings)
    if source == COVE:
        return open_cove(args.cove_vectors, args.weight_file)
    return open_bilm(*bilm_files(args.options_file, args.weight_file), precision=precision)


def files_read(args: argparse.Namespace) -> list[str | None]:
    """The files among the options, which a command must not overwrite."""
    return [args.options_file, args.weight_file, args.cove_vectors]
