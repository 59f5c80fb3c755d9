"""The vectors of words that `elmo-tasks static` writes."""

import argparse
from collections.abc import Iterator

from elmo_tasks.cli.running.embedding import open_elmo, read_lines
from elmo_tasks.elmo.batching import Line, parsed, token_bar
from elmo_tasks.elmo.vectors.static import frequent_words
from elmo_tasks.formats.text.raw_text import open_tokenizer
from elmo_tasks.formats.vector_files import write_word_vectors
from elmo_tasks.option_values import OUTPUTS
from elmo_tasks.system.files import check_output_path

VECTORS = ("text, such as vectors.txt or vectors.txt.gz", ".gz")
"""A format, as in `check_output_path`."""


def write(args: argparse.Namespace) -> None:
    """Count the words, embed the text with a progress bar, and write the vectors."""
    layers = args.layers
    read = list(args.corpus)
    if layers.isdecimal():
        layers = int(layers)
    elif layers not in OUTPUTS:  # an archive
        read.append(layers)
    check_output_path(args.output, read=read, force=args.force)
    elmo = open_elmo(args, args.output)
    # `open_elmo` rejects the model's own files first.
    check_output_path(args.output, format=VECTORS)
    words = frequent_words(_sentences(args), min_count=args.min_count, most=args.most)
    with token_bar() as bar:
        vectors = elmo.mean_vectors(
            _sentences(args),
            words,
            layers=layers,
            progress=bar.update,
        )
    write_word_vectors(args.output, words, vectors)
    print(f"{args.output}: {len(words):,} words, {vectors.shape[1]} dimensions")


def _sentences(args: argparse.Namespace) -> Iterator[list[str]]:
    parse, _ = open_tokenizer(args.tokenizer)
    for sentence in parsed(_lines(args), parse):
        yield sentence.tokens


def _lines(args: argparse.Namespace) -> Iterator[tuple[str, int, Line]]:
    """The lines of all files, each with its file and number."""
    for file in args.corpus:
        for line_number, line in read_lines(args, file):
            yield file, line_number, line
