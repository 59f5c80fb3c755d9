"""`elmo-tasks bilm surprisal`: a table of the surprisal of each word of a text."""

import argparse

from elmo_tasks.cli.arguments import (
    add_language_model,
    add_table_options,
    location,
)
from elmo_tasks.option_values import CARRY, RESET

DESCRIPTION = (
    "Write a table with the surprisal of each word in bits, forward (given the words before it) and backward (given"
    " those after it), one row per word, separated by tabs. The columns are file, line, row (counted from 0), position,"
    " word, forward, backward and oov, which is 1 for a word outside the vocabulary: its surprisal is that of `<UNK>`."
    " Each sentence has two more rows: `<S>` at position 0 with the backward surprisal of its beginning, and `</S>`"
    " with the forward surprisal of its end. The sums over all rows are those of `bilm perplexity`."
    " Typographic marks that the vocabulary lacks are read as plain ones, such as ’ as '."
)

_STATE_HELP = (
    "what each sentence starts from: reset, zero states, so that it depends on no other sentence (default; the sums"
    " are those of `bilm perplexity --state reset`); or carry, the last states of the sentence before it in the same"
    " file, for running text (`bilm perplexity --batch-size 1`)"
)
_COLUMN_HELP = "column of a table (.csv, .tsv, .jsonl, .parquet) with the sentences; a table needs it"
_KEEP_HELP = (
    "further columns of the table, separated by commas, such as item,condition: their"
    " cells are added to each row"
)
_REGIONS_HELP = (
    "what separates the regions of a sentence, such as '|', or ' ' for a region per word between blanks: the table of"
    " words gets a column with the number of each word's region. The sentence is split into words as a whole"
)
_TOKENIZER_HELP = (
    "how text is split into words: whitespace (default), basic (a rule for words and"
    " punctuation) or spacy:LANGUAGE"
)


def _mark(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("expected a mark, got ''")
    return text


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """The options of `open_surprisal`."""
    parser.add_argument(
        "--tokenizer", default="whitespace", metavar="NAME", help=_TOKENIZER_HELP
    )
    add_language_model(parser)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks bilm surprisal FILE... --output OUT`."""
    parser.set_defaults(func=run)
    add = parser.add_argument
    text = (
        "text with one tokenised sentence per line, or a table (--column); also gzip and"
        " globs; - reads standard input"
    )
    add("files", type=location, metavar="FILE", nargs="+", help=text)
    add(
        "--output",
        type=location,
        metavar="OUT",
        required=True,
        help="table of the words to write",
    )
    sums = (
        "also write a table with one row per sentence, or per row of a table: its words, those outside the"
        " vocabulary, and its sums"
    )
    add("--sentences", type=location, metavar="OUT", help=sums)
    add("--column", metavar="NAME", help=_COLUMN_HELP)
    add_table_options(parser)
    add("--keep", metavar="NAMES", help=_KEEP_HELP)
    add("--regions", type=_mark, metavar="MARK", help=_REGIONS_HELP)
    add("--state", choices=(RESET, CARRY), default=RESET, help=_STATE_HELP)
    add_model_options(parser)
    add("--force", action="store_true", help="replace existing files")


def run(args: argparse.Namespace) -> None:
    """Write the tables."""
    from elmo_tasks.cli.running.surprisal_tables import write_tables

    write_tables(args)
