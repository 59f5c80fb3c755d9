"""
`elmo-tasks elmo`: write the ELMo vectors of a text to a file. Imports only torch,
numpy and h5py.
"""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from elmo_tasks.cli.arguments import STANDARD_INPUT, location
from elmo_tasks.cli.layer_sources import (
    add_device,
    add_source_options,
    files_read,
    open_chosen,
)
from elmo_tasks.elmo.progress import progress_bar
from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.elmo.shards import ShardJob, write_shards
from elmo_tasks.errors import InputError, Interrupted, portable
from elmo_tasks.files import check_output_path
from elmo_tasks.formats.fasta import Protein, read_proteins
from elmo_tasks.formats.raw_text import line_parser
from elmo_tasks.formats.text_files import list_files, open_text
from elmo_tasks.option_values import FASTA, OUTPUTS, BatchSizes, InferencePrecision
from elmo_tasks.ray_cluster import connected, room_of
from elmo_tasks.settings import Size, annotations, choices, number
from elmo_tasks.workers import Processes, RayWorkers, Workers

_SIZES = annotations(BatchSizes)


DESCRIPTION = (
    "Write the vectors of every line of a text to an HDF5 file, with datasets '0', '1', ... as in AllenNLP 0.x, and an"
    " index of sentences and tokens. With --shards, write the vectors of a corpus to a folder of Parquet files, with"
    " several processes or a Ray cluster; repeat the command to resume it."
)

_GROWTH = 256
"""
How many shards a cluster is asked to write at once, even if it has room for fewer now:
it may grow.
"""

_HELP = {
    "all": "write all layers, shape [L+1, T, D] (default)",
    "top": "write the top layer, shape [T, D]",
    "average": "write the mean of all layers, shape [T, D]",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks elmo IN OUT`."""
    parser.add_argument(
        "input_file",
        type=location,
        metavar="IN",
        help="UTF-8 text with one sentence per line, or proteins (--input-format fasta), also gzip or zstd; - reads"
        " standard input",
    )
    parser.add_argument(
        "output_file",
        type=location,
        metavar="OUT",
        help="HDF5 file; with --shards, a folder",
    )
    _add_output_options(parser)
    add_embedding_options(parser)
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace an existing file, or discard existing shards",
    )
    _add_shard_options(parser)
    parser.set_defaults(func=run)


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    outputs = parser.add_mutually_exclusive_group()
    for output in OUTPUTS:
        outputs.add_argument(
            f"--{output}",
            action="store_const",
            const=output,
            dest="output",
            default="all",
            help=_HELP[output],
        )
    outputs.add_argument(
        "--mix",
        dest="output",
        type=location,
        metavar="ARCHIVE",
        help="write the mix that a trained model has learned, shape [T, D]",
    )
    stored = parser.add_mutually_exclusive_group()
    for name, text in (
        ("float16", "store float16: half the size, values rounded to 11 bits"),
        ("int8", "store 8-bit integers: a quarter of the size"),
    ):
        stored.add_argument(
            f"--{name}",
            action="store_const",
            const=name,
            dest="stored",
            default="float32",
            help=text,
        )


def add_embedding_options(parser: argparse.ArgumentParser) -> None:
    """
    Adds the options of the text, of the source and of its computation, for `open_elmo`.
    """
    parser.add_argument(
        "--input-format",
        choices=("tokens", "text", "json", FASTA),
        default="tokens",
        help="what a line is: tokens separated by white space (default); raw text, split by spaCy's English rules or"
        " --tokenizer; or JSON, a list of tokens or an object with --column. fasta: proteins, whose tokens are their"
        " residues",
    )
    parser.add_argument(
        "--tokenizer",
        metavar="NAME",
        help="how raw text is split: basic (a rule for words and punctuation), spacy:LANGUAGE"
        " (such as spacy:en) or whitespace",
    )
    parser.add_argument(
        "--column",
        default="tokens",
        metavar="NAME",
        help="field of JSON or column of Parquet (default: tokens)",
    )
    add_source_options(parser)
    parser.add_argument(
        "--precision",
        choices=choices(InferencePrecision),
        default="float32",
        help="data type of the matrix products (default: float32); int8 needs a CPU",
    )
    parser.add_argument(
        "--max-length",
        type=number(_SIZES["max_length"]),
        default=512,
        metavar="N",
        help="split longer lines into windows of N tokens (default: 512)",
    )
    parser.add_argument(
        "--overlap",
        type=number(_SIZES["overlap"]),
        default=128,
        metavar="N",
        help="tokens that adjacent windows share (default: 128)",
    )
    parser.add_argument(
        "--batch-size",
        type=number(_SIZES["batch_size"]),
        default=64,
        metavar="B",
        help="largest number of sentences in a batch (default: 64)",
    )
    parser.add_argument(
        "--max-tokens",
        type=number(_SIZES["max_tokens"]),
        default=4096,
        metavar="N",
        help="largest number of tokens in a batch (default: 4096)",
    )
    add_device(parser)


def _add_shard_options(parser: argparse.ArgumentParser) -> None:
    shards = parser.add_argument_group(
        "shards",
        "IN can be a glob, also of Parquet files or s3://BUCKET/GLOB. OUT is a folder of Parquet files.",
    )
    shards.add_argument(
        "--shards", type=number(Size), metavar="N", help="write N shards; needs pyarrow"
    )
    shards.add_argument(
        "--workers",
        type=number(Size),
        metavar="N",
        help="number of processes that write shards (default: 1; with Ray, all CPUs)",
    )
    shards.add_argument(
        "--threads",
        type=number(Size),
        metavar="N",
        help="threads of each worker (default: 1)",
    )
    shards.add_argument(
        "--executor",
        choices=("local", "ray"),
        help="where shards are written: on this machine (default), or on a Ray cluster",
    )
    shards.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="address of the Ray cluster (default: RAY_ADDRESS, else a cluster on this machine)",
    )


def run(args: argparse.Namespace) -> None:
    """Write the vectors with a progress bar."""
    if args.shards is None:
        return _write_file(args)
    try:
        _write_shards(args)
    except KeyboardInterrupt:
        raise Interrupted("the same command, without --force, resumes") from None


def _write_shards(args: argparse.Namespace) -> None:
    if args.stored == "int8":
        raise InputError(
            "--int8 cannot be combined with --shards",
            hint="use --float16, or leave out --shards",
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
        input_format=_format_of(args),
        column=args.column,
        threads=args.threads or 1,
    )
    # A cluster that is not there is an error before earlier shards are removed.
    with _open_workers(args, job) as workers, progress_bar() as bar:
        done = write_shards(
            job,
            files,
            args.shards,
            workers=workers,
            force=args.force,
            started=_print_sizes,
            progress=bar.update,
        )
    print(f"{portable(str(folder))}: {done['tokens']:,} tokens")
    if len(done["cpus"]) > 1:
        print(
            f"computed on {len(done['cpus'])} types of CPUs, whose values differ by rounding"
        )


@contextmanager
def _open_workers(args: argparse.Namespace, job: ShardJob) -> Iterator[Workers | None]:
    """The workers that write shards; None for this process."""
    if args.executor == "ray":
        with connected(args.address) as ray:
            slots = args.workers or max(2 * room_of(ray, job.threads), _GROWTH)
            gpus = 1 if job.elmo.layers.device.type == "cuda" else 0
            with RayWorkers(ray, slots, cores=job.threads, gpus=gpus) as workers:
                yield workers
    elif args.workers in (None, 1):
        yield None
    else:
        with Processes(args.workers) as workers:
            yield workers


def _print_sizes(sentences: int, shards: int) -> None:
    print(f"{sentences:,} sentences in {shards:,} shards")


def _write_file(args: argparse.Namespace) -> None:
    for name in ("workers", "threads", "executor", "address"):
        if getattr(args, name) is not None:
            raise InputError(
                f"--{name} needs --shards",
                hint="an HDF5 file is written by one process",
            )
    input_file = args.input_file
    if input_file == STANDARD_INPUT:
        input_file = "/dev/stdin"
    check_output_path(args.output_file, read=[input_file] + files_read(args))
    parse, tokenizer = text_parser(args)
    elmo = open_elmo(args)
    with progress_bar() as bar:

        def started(counts: Mapping[str, int]) -> None:
            _print_counts(counts, args.max_length)
            bar.reset(total=counts["tokens"])

        elmo.write(
            read_lines(input_file, args.input_format),
            args.output_file,
            layers=args.output,
            stored=args.stored,
            tokenizer=parse,
            settings={"input": args.input_file, "tokenizer": tokenizer},
            force=args.force,
            started=started,
            progress=bar.update,
        )
    size = Path(args.output_file).stat().st_size
    print(f"{portable(args.output_file)}: {size:,} bytes")


def read_lines(file: str, input_format: str) -> Iterator[tuple[int, str | Protein]]:
    """The lines of a text, or the proteins of a FASTA file, with their numbers."""
    if input_format == FASTA:
        return read_proteins(file)
    return open_text(file, longest=None)


def text_parser(args: argparse.Namespace) -> tuple[Callable[[str], list[str]], str]:
    """`line_parser` for a text, which has no columns unless it is JSON."""
    if args.column != "tokens" and args.input_format != "json":
        raise InputError(
            "--column needs --input-format json",
            hint="for a column of Parquet files, add --shards",
        )
    return line_parser(_format_of(args), args.column)


def _format_of(args: argparse.Namespace) -> str:
    """The format and the tokenizer, as `line_parser` takes them."""
    if args.tokenizer is None:
        return args.input_format
    if args.input_format == FASTA:
        raise InputError(
            "--tokenizer: expected none with --input-format fasta",
            hint="the words of a protein are its residues",
        )
    if args.input_format == "json":
        return f"json:{args.tokenizer}"
    return f"text:{args.tokenizer}"


def open_elmo(args: argparse.Namespace) -> Elmo:
    """The source, with the options of `add_embedding_options`."""
    layers = open_chosen(args, precision=args.precision)
    return Elmo(
        layers,
        max_length=args.max_length,
        overlap=args.overlap,
        batch_size=args.batch_size,
        max_tokens=args.max_tokens,
    )


def _print_counts(counts: Mapping[str, int], max_length: int) -> None:
    print(f"{counts['sentences']:,} sentences, {counts['tokens']:,} tokens")
    if counts["blank_lines"]:
        print(
            f"{counts['blank_lines']:,} lines have no tokens: their datasets are empty"
        )
    if counts["long_lines"]:
        print(
            f"{counts['long_lines']:,} lines of more than {max_length:,} tokens are split into overlapping windows"
        )
