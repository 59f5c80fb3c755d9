"""
What `elmo-tasks elmo` and `elmo-tasks static` read, by the options of
`add_embedding_options`: the lines of a text, and a model.
"""

import argparse
from collections.abc import Callable, Iterator

from elmo_tasks.cli.layer_sources import open_chosen
from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fasta import Protein, read_proteins
from elmo_tasks.formats.raw_text import line_parser
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.option_values import FASTA


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


def text_parser(args: argparse.Namespace) -> tuple[Callable[[str], list[str]], str]:
    """`line_parser` for a text, which has no columns unless it is JSON."""
    if args.column != "tokens" and args.input_format != "json":
        raise InputError(
            "--column needs --input-format json",
            hint="for a column of Parquet files, add --shards",
        )
    return line_parser(format_of(args), args.column)


def format_of(args: argparse.Namespace) -> str:
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


def read_lines(file: str, input_format: str) -> Iterator[tuple[int, str | Protein]]:
    """The lines of a text, or the proteins of a FASTA file, with their numbers."""
    if input_format == FASTA:
        return read_proteins(file)
    return open_text(file, longest=None)
