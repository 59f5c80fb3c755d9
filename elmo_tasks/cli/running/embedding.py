"""
What `elmo-tasks elmo` and `elmo-tasks static` read, by the options of
`add_embedding_options`: the lines of a text, and a model.
"""

import argparse
from collections.abc import Iterator

from elmo_tasks.cli.arguments import table_options
from elmo_tasks.cli.layer_sources import open_chosen
from elmo_tasks.elmo.batching import Line
from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.formats.text.tables import read_table, require_text
from elmo_tasks.formats.text.text_files import open_text
from elmo_tasks.system.files import check_output_path


def open_elmo(args: argparse.Namespace, output: str | None = None) -> Elmo:
    """
    The source, with the options of `add_embedding_options`. Raises `InputError` if
    `output` is one of its files.
    """
    layers = open_chosen(args, precision=args.precision)
    if output is not None and layers.files is not None:
        check_output_path(output, read=layers.files.paths.values())
    return Elmo(
        layers,
        max_length=args.max_length,
        overlap=args.overlap,
        batch_size=args.batch_size,
        max_tokens=args.max_tokens,
    )


def read_lines(args: argparse.Namespace, file: str) -> Iterator[tuple[int, Line]]:
    """The lines of a text, or the texts of a table's column, with their numbers."""
    if args.column is None:
        require_text(file, hint="--column NAME reads a column of a table")
        yield from open_text(file, longest=None)
    else:
        for row in read_table(file, args.column, **table_options(args)):
            yield row.line, row.text
