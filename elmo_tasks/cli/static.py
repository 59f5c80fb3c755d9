"""
`elmo-tasks static`: one vector per word, the mean of its contextual vectors in a text.
Needs no AllenNLP.
"""

import argparse

from elmo_tasks.cli.arguments import location
from elmo_tasks.cli.elmo import add_embedding_options
from elmo_tasks.settings import Size, number

DESCRIPTION = (
    "Write one vector per word of a text, the mean of its contextual vectors, in word2vec's format."
    " The text is read twice; memory is needed for the counts of its distinct words, and for the vectors."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks static CORPUS --output OUT`."""
    parser.add_argument(
        "corpus",
        type=location,
        metavar="CORPUS",
        nargs="+",
        help="UTF-8 text with one sentence per line, or a table (--column), also gzip",
    )
    parser.add_argument(
        "--output",
        type=location,
        metavar="OUT",
        required=True,
        help="file to write: text, compressed if it ends in .gz",
    )
    layers = (
        "what is averaged over a text: average (default), top, the number of a layer,"
        " or an archive, whose mix is used"
    )
    parser.add_argument("--layers", metavar="L", default="average", help=layers)
    parser.add_argument(
        "--min-count",
        type=number(Size),
        default=5,
        metavar="N",
        help="leave out words with fewer occurrences (default: 5)",
    )
    parser.add_argument(
        "--most",
        type=number(Size),
        default=200_000,
        metavar="N",
        help="keep only the N most frequent words (default: 200,000)",
    )
    add_embedding_options(parser)
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> None:
    """Count the words, embed the text with a progress bar, and write the vectors."""
    from elmo_tasks.cli.running.word_vectors import write

    write(args)
