"""`elmo-tasks bilm score --pairs`: the accuracy on minimal pairs."""

import argparse

from elmo_tasks.cli.arguments import location
from elmo_tasks.cli.bilm_surprisal import add_model_options
from elmo_tasks.option_values import PAIR_GROUP

DESCRIPTION = (
    "Print the accuracy on minimal pairs, such as BLiMP's: the share of pairs whose good sentence is more probable,"
    " forward, backward, and by the mean of both log-probabilities, each with its 95 % interval (Wilson). Each sentence"
    " starts from zero states, and its end counts. Pairs of sentences that are the same for the model are ties, which"
    " count as half correct, so that guessing has 50 %. `<UNK> %` is the share of pairs with a word outside the"
    " vocabulary: such words share the probability of `<UNK>`."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks bilm score --pairs FILE...`."""
    parser.set_defaults(func=run)
    add = parser.add_argument
    pairs = (
        "JSON lines with sentence_good and sentence_bad, as in BLiMP, or good and bad; also gzip and globs;"
        " - reads standard input"
    )
    add(
        "--pairs",
        type=location,
        metavar="FILE",
        nargs="+",
        required=True,
        help=pairs,
    )
    group = f"field with the group of a pair, whose accuracy is also printed (default: {PAIR_GROUP})"
    add("--group", metavar="NAME", default=PAIR_GROUP, help=group)
    out = "also write a table with the surprisal of each pair's sentences, in bits"
    add("--output", type=location, metavar="OUT", help=out)
    add_model_options(parser)
    add("--force", action="store_true", help="replace an existing file")


def run(args: argparse.Namespace) -> None:
    """Score the pairs with a progress bar, then print their accuracies."""
    from elmo_tasks.cli.running.pair_accuracies import print_accuracies

    print_accuracies(args)
