"""The files that `elmo-tasks elmo` writes: HDF5, or a folder of shards."""

import argparse
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

from elmo_tasks.cli.arguments import STANDARD_INPUT
from elmo_tasks.cli.layer_sources import files_read
from elmo_tasks.cli.running.embedding import (
    format_of,
    open_elmo,
    read_lines,
    text_parser,
)
from elmo_tasks.elmo.progress import token_bar
from elmo_tasks.elmo.vectors.shards import ShardJob, write_shards
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.text_files import list_files
from elmo_tasks.option_values import OUTPUTS
from elmo_tasks.system.files import check_output_path
from elmo_tasks.system.ray_cluster import RayExecutor, connected, room_of
from elmo_tasks.system.temporary import remove_leftovers
from elmo_tasks.system.workers import processes

_GROWTH = 256
"""
How many shards a cluster is asked to write at once, even if it has room for fewer now:
it may grow.
"""


def write_folder(args: argparse.Namespace) -> None:
    """Write a folder of shards, for `--shards`."""
    if args.stored == "int8":
        raise InputError(
            "--int8 cannot be combined with --shards",
            hint="use --float16, or leave out --shards",
        )
    if args.pooling is not None:
        raise InputError(
            "--pooling cannot be combined with --shards",
            hint="leave out --shards: the file of pooled vectors is small",
        )
    files = list_files(args.input_file)
    folder = Path(args.output_file).absolute()
    layers = args.output
    if layers not in OUTPUTS:  # an archive
        layers = os.path.abspath(layers)
    job = ShardJob(
        elmo=open_elmo(args),
        folder=folder,
        layers=layers,
        stored=args.stored,
        input_format=format_of(args),
        column=args.column or "tokens",
        threads=args.threads or 1,
    )
    # A cluster that is not there is an error before earlier shards are removed.
    with _executor(args, job) as executor, token_bar() as bar:
        done = write_shards(
            job,
            files,
            args.shards,
            executor=executor,
            force=args.force,
            started=_print_sizes,
            progress=bar.update,
        )
    print(f"{folder}: {done['tokens']:,} tokens")
    if len(done["cpus"]) > 1:
        print(
            f"computed on {len(done['cpus'])} types of CPUs, whose values differ by rounding"
        )


@contextmanager
def _executor(args: argparse.Namespace, job: ShardJob) -> Iterator[Executor | None]:
    """What has shards written; `None` for this process."""
    if args.executor == "ray":
        with connected(args.address) as ray:
            slots = args.workers or max(2 * room_of(ray, job.threads), _GROWTH)
            gpus = 1 if job.elmo.layers.device.type == "cuda" else 0
            with RayExecutor(ray, slots, cores=job.threads, gpus=gpus) as nodes:
                yield nodes
    elif args.workers in (None, 1):
        yield None
    else:
        try:
            with processes(args.workers) as pool:
                yield pool
        finally:
            remove_leftovers(job.folder)  # of processes that were ended


def _print_sizes(sentences: int, shards: int) -> None:
    print(f"{sentences:,} sentences in {shards:,} shards")


def write_file(args: argparse.Namespace) -> None:
    """Write an HDF5 file."""
    for name in ("workers", "threads", "executor", "address"):
        if getattr(args, name) is not None:
            raise InputError(
                f"--{name} needs --shards",
                hint="an HDF5 file is written by one process",
            )
    if args.pooling is not None and args.stored == "int8":
        raise InputError(
            "--int8 cannot be combined with --pooling", hint="use --float16"
        )
    input_file = args.input_file
    if input_file == STANDARD_INPUT:
        input_file = "/dev/stdin"
    check_output_path(args.output_file, read=[input_file] + files_read(args))
    parse, tokenizer = text_parser(args)
    settings = {"input": args.input_file, "tokenizer": tokenizer}
    if args.column is not None:
        settings["column"] = args.column
    elmo = open_elmo(args)
    with token_bar() as bar:

        def started(counts: Mapping[str, int]) -> None:
            _print_counts(counts, args)
            bar.reset(total=counts["tokens"])

        elmo.write(
            read_lines(args, input_file),
            args.output_file,
            layers=args.output,
            stored=args.stored,
            tokenizer=parse,
            settings=settings,
            pooling=args.pooling,
            force=args.force,
            started=started,
            progress=bar.update,
        )
    size = Path(args.output_file).stat().st_size
    print(f"{args.output_file}: {size:,} bytes")


def _print_counts(counts: Mapping[str, int], args: argparse.Namespace) -> None:
    print(f"{counts['sentences']:,} sentences, {counts['tokens']:,} tokens")
    if counts["blank_lines"]:
        what = "datasets are empty" if args.pooling is None else "vectors are zeros"
        print(f"{counts['blank_lines']:,} lines have no tokens: their {what}")
    if counts["long_lines"]:
        print(
            f"{counts['long_lines']:,} lines of more than {args.max_length:,} tokens are split into overlapping windows"
        )
