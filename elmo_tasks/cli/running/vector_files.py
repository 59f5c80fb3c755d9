"""The HDF5 file that `elmo-tasks elmo` writes."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from elmo_tasks.cli.arguments import STANDARD_INPUT
from elmo_tasks.cli.running.embedding import open_elmo, read_lines
from elmo_tasks.elmo.batching import token_bar
from elmo_tasks.elmo.vectors.hdf5_writer import HDF5
from elmo_tasks.errors import InputError
from elmo_tasks.option_values import OUTPUTS
from elmo_tasks.system.files import check_output_path


def write_file(args: argparse.Namespace) -> None:
    """Write an HDF5 file."""
    if args.pooling is not None and args.stored == "int8":
        raise InputError(
            "--int8 cannot be combined with --pooling", hint="use --float16"
        )
    input_file = args.input_file
    if input_file == STANDARD_INPUT:
        input_file = "/dev/stdin"
    read = [input_file]
    if args.output not in OUTPUTS:  # an archive
        read.append(args.output)
    check_output_path(args.output_file, read=read, format=HDF5)
    settings = {"input": args.input_file}
    if args.column is not None:
        settings["column"] = args.column
    elmo = open_elmo(args, args.output_file)
    with token_bar() as bar:

        def started(counts: Mapping[str, int]) -> None:
            _print_counts(counts, args)
            bar.reset(total=counts["tokens"])

        elmo.write(
            read_lines(args, input_file),
            args.output_file,
            layers=args.output,
            stored=args.stored,
            tokenizer=args.tokenizer,
            settings=settings,
            pooling=args.pooling,
            force=args.force,
            started=started,
            progress=bar.update,
        )
    print(f"{args.output_file}: {Path(args.output_file).stat().st_size:,} bytes")


def _print_counts(counts: Mapping[str, int], args: argparse.Namespace) -> None:
    print(f"{counts['sentences']:,} sentences, {counts['tokens']:,} tokens")
    if counts["blank_lines"]:
        what = "datasets are empty" if args.pooling is None else "vectors are zeros"
        print(f"{counts['blank_lines']:,} lines have no tokens: their {what}")
    if counts["long_lines"]:
        print(
            f"{counts['long_lines']:,} lines of more than {args.max_length:,} tokens are split into overlapping windows"
        )
