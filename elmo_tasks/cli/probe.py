"""
`elmo-tasks probe`: word senses, parts of speech and nearest neighbours by the frozen
layers.
"""

import argparse

from elmo_tasks.cli.arguments import add_actions, add_device, path
from elmo_tasks.cli.layer_sources import add_source_options, open_chosen
from elmo_tasks.settings import Count, Size, number

_WSD = (
    "Table 5. The answer is the nearest sense of the same lemma and part of speech, by cosine. The vector of a sense"
    " is the mean over its annotations in SemCor. Lemmas that are not in SemCor get WordNet's first sense. The vectors"
    " of a target of several tokens are averaged."
)
_POS = (
    "Table 6. A linear softmax on each frozen layer, trained by L-BFGS until convergence, without randomness."
    " Files are CoNLL-U; the tags are XPOS."
)
_NEIGHBORS = (
    "Table 4. The occurrences of a word whose vectors are nearest, by cosine, to that of one occurrence. This takes"
    " 2 D bytes of memory for each token of the corpus, where D is the width of the layers."
)

DESCRIPTION = (
    "Score the frozen layers on word senses and parts of speech, and list nearest"
    " neighbours (the paper's Tables 4 to 6)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The actions of `elmo-tasks probe wsd | pos | neighbors`."""
    actions = add_actions(parser)
    add = actions.add_parser
    _add_wsd(
        add("wsd", description=_WSD, help="word senses by the nearest sense vector")
    )
    _add_pos(add("pos", description=_POS, help="parts of speech by a linear softmax"))
    _add_neighbors(
        add(
            "neighbors",
            description=_NEIGHBORS,
            help="nearest occurrences and word vectors",
        )
    )
    for action in actions.choices.values():
        add_source_options(action)
        add_device(action)


def _add_wsd(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data",
        type=path,
        metavar="FOLDER",
        help="a folder with SemCor/semcor.data.xml, Evaluation_Datasets/*/*.data.xml, their keys, and index.sense",
    )
    parser.set_defaults(func=probe_wsd)


def _add_pos(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("train", type=path, metavar="TRAIN", help="CoNLL-U file to train on")
    add(
        "test",
        type=path,
        metavar="TEST",
        help="CoNLL-U file to score, not the training file",
    )
    parser.set_defaults(func=probe_parts_of_speech)


def _add_neighbors(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("word", metavar="WORD", help="the word; upper and lower case are the same")
    add(
        "--corpus",
        type=path,
        metavar="FILE",
        required=True,
        help="text with one tokenised sentence per line, or a *.data.xml",
    )
    add(
        "--layer",
        type=number(Count),
        metavar="K",
        help="layer to compare; 0 is context-free (default: the top layer)",
    )
    add(
        "--vectors",
        type=path,
        metavar="FILE",
        help="also list the nearest words in this file of word vectors",
    )
    add(
        "--occurrence",
        type=number(Size),
        metavar="N",
        default=1,
        help="compare with the Nth occurrence in the corpus (default: 1)",
    )
    add(
        "--top",
        type=number(Size),
        metavar="N",
        default=5,
        help="number of neighbours (default: 5)",
    )
    parser.set_defaults(func=probe_neighbors)


def probe_wsd(args: argparse.Namespace) -> None:
    """Run `probe_senses` on a folder's files and print Table 5."""
    from elmo_tasks.cli.running.probe_tables import wsd_table
    from elmo_tasks.experiments.probes.wsd import (
        evaluation_files_in,
        probe_senses,
        train_file_in,
    )

    train = train_file_in(args.data)
    evaluated = evaluation_files_in(args.data)
    report = probe_senses(
        open_chosen(args), train, evaluated, args.data / "index.sense"
    )
    print(wsd_table(report))


def probe_parts_of_speech(args: argparse.Namespace) -> None:
    """Run `probe_pos` and print Table 6."""
    from elmo_tasks.cli.running.probe_tables import pos_table
    from elmo_tasks.experiments.probes.pos import probe_pos

    print(pos_table(probe_pos(open_chosen(args), args.train, args.test)))


def probe_neighbors(args: argparse.Namespace) -> None:
    """Encode the corpus and print Table 4."""
    from elmo_tasks.cli.running.probe_tables import neighbors_table
    from elmo_tasks.experiments.probes.neighbors import (
        index_corpus,
        nearest_occurrences,
        nearest_words,
        occurrence_in_corpus,
        read_corpus,
    )

    layers = open_chosen(args)
    static = None
    if args.vectors is not None:
        static = nearest_words(args.vectors, args.word, top=args.top)
    index = index_corpus(read_corpus(args.corpus), layers, args.layer)
    source = occurrence_in_corpus(index, args.word, args.occurrence)
    found = nearest_occurrences(index, args.word, source, top=args.top)
    name = f"{layers.label} {index.layer}"
    table = neighbors_table(
        args.word, source, found, static, vectors=args.vectors, name=name
    )
    print(table)
