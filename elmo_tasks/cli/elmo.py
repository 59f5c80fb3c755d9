"""
`elmo-tasks elmo`: write the ELMo vectors of a text to a file. Needs only torch,
numpy and h5py.
"""

import argparse

from elmo_tasks.cli.arguments import add_device, add_ray, add_table_options, location
from elmo_tasks.cli.layer_sources import add_source_options
from elmo_tasks.errors import Interrupted
from elmo_tasks.option_values import OUTPUTS, BatchSizes, InferencePrecision, Pooling
from elmo_tasks.settings import annotations, choices, number

_SIZES = {
    "max_length": "split longer lines into windows of N tokens",
    "overlap": "tokens that adjacent windows share",
    "batch_size": "largest number of sentences in a batch",
    "max_tokens": "largest number of tokens in a batch",
}


DESCRIPTION = (
    "Write the vectors of every line of a text to an HDF5 file, with datasets '0', '1', ... as in AllenNLP 0.x, and an"
    " index of sentences and tokens. With --ray, write a Parquet file for each file of a corpus, by all cores of this"
    " machine or a Ray cluster; repeat the command to resume it."
)

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
        help="UTF-8 text with one sentence per line, or a table (--column), also gzip or zstd; - reads standard input."
        " With --ray, also a glob or s3://BUCKET/GLOB",
    )
    parser.add_argument(
        "output_file",
        type=location,
        metavar="OUT",
        help="HDF5 file; with --ray, a folder",
    )
    _add_output_options(parser)
    add_embedding_options(parser)
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace existing files",
    )
    add_ray(parser, "write Parquet files by Ray Data")
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
    parser.add_argument(
        "--pooling",
        choices=choices(Pooling),
        help="write one vector per line instead of one per token: their mean, maximum, the first or the last",
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
    Adds the options of the text, of the source and of its computation, for
    `embedding.open_elmo`.
    """
    parser.add_argument(
        "--tokenizer",
        metavar="NAME",
        default="whitespace",
        help="how text is split into words: whitespace (default), basic (a rule for words and"
        " punctuation) or spacy:LANGUAGE, such as spacy:en",
    )
    parser.add_argument(
        "--column",
        metavar="NAME",
        help="column of a table (.csv, .tsv, .jsonl, .parquet) with texts or lists of words; a table needs it",
    )
    add_table_options(parser)
    add_source_options(parser)
    parser.add_argument(
        "--precision",
        choices=choices(InferencePrecision),
        default="float32",
        help="data type of the matrix products (default: float32); int8 needs a CPU",
    )
    for name, text in _SIZES.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=number(annotations(BatchSizes)[name]),
            default=getattr(BatchSizes, name),
            metavar="N",
            help=f"{text} (default: %(default)s)",
        )
    add_device(parser)


def run(args: argparse.Namespace) -> None:
    """Write the vectors with a progress bar."""
    if args.ray is None:
        from elmo_tasks.cli.running.vector_files import write_file

        return write_file(args)
    from elmo_tasks.cli.running.parquet_folder import write_folder

    try:
        write_folder(args)
    except KeyboardInterrupt:
        raise Interrupted("the same command, without --force, resumes") from None
