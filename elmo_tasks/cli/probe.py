"""`elmo-tasks probe`: word senses, parts of speech and nearest neighbours by the frozen layers."""

import argparse
import json
from pathlib import Path
from typing import Any

from elmo_tasks.cli.actions import ActionsCommand
from elmo_tasks.cli.layer_sources import add_device, add_source_options, device_of, files_read, open_chosen
from elmo_tasks.cli.probe_tables import neighbors_table, pos_table, wsd_table
from elmo_tasks.errors import require_sizes
from elmo_tasks.experiments.probes.layers import FrozenEncoder
from elmo_tasks.experiments.probes.neighbors import (
    index_corpus,
    nearest_occurrences,
    nearest_words,
    occurrence_in_corpus,
    occurrence_in_sentence,
    read_corpus,
)
from elmo_tasks.experiments.probes.pos import MAX_STEPS, PosReport, probe_pos
from elmo_tasks.experiments.probes.wsd import WsdReport, evaluation_files_in, probe_senses, train_file_in, write_answers
from elmo_tasks.files import atomic_write, check_output_path

_WSD = (
    "Table 5: the nearest sense vector by cosine, a mean over SemCor's annotations, among the senses of the same lemma"
    " and part of speech; WordNet's first sense for lemmas that SemCor does not have. Targets of several tokens are"
    " averaged."
)
_POS = (
    "Table 6: a linear softmax on each frozen layer, trained by L-BFGS until convergence, without randomness."
    " Files are CoNLL-U (XPOS), or word/tag or word_tag, one sentence per line."
)
_NEIGHBORS = (
    "Table 4: the occurrences of a word whose vectors are nearest, by cosine, to that of one occurrence. Takes 2 D"
    " bytes of memory for each token of the corpus, with layers of width D."
)


class Probe(ActionsCommand):
    """`elmo-tasks probe wsd | pos | neighbors`."""

    description = "Probe the frozen layers for word senses, parts of speech and neighbours (the paper's Tables 4 to 6)."

    def add_actions(self, actions: argparse._SubParsersAction) -> None:
        """One parser each."""
        _add_wsd(actions.add_parser("wsd", description=_WSD, help="word senses by the nearest sense vector"))
        _add_pos(actions.add_parser("pos", description=_POS, help="parts of speech by a linear softmax"))
        _add_neighbors(
            actions.add_parser("neighbors", description=_NEIGHBORS, help="nearest occurrences and word vectors")
        )
        for parser in actions.choices.values():
            add_source_options(parser)
            add_device(parser)
            parser.add_argument("--output", type=Path, metavar="FILE", help="also write the results as JSON")


def _add_wsd(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    files = "SemCor/semcor.data.xml, Evaluation_Datasets/*/*.data.xml, their keys, and index.sense"
    add("data", type=Path, metavar="FOLDER", help=f"with {files}")
    add("--evaluate", type=Path, metavar="FILE", nargs="+", help="other sets than those in FOLDER")
    add("--answers", type=Path, metavar="FOLDER", help="write SET.ROW.key.txt, for the official scorer")
    parser.set_defaults(func=probe_wsd)


def _add_pos(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("train", type=Path, metavar="TRAIN", help="CoNLL-U file to train on")
    add("test", type=Path, metavar="TEST", help="CoNLL-U file to score, not the training file")
    add("--max-steps", type=int, metavar="N", default=MAX_STEPS, help=f"of L-BFGS ({MAX_STEPS})")
    parser.set_defaults(func=probe_parts_of_speech)


def _add_neighbors(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("word", metavar="WORD", help="in upper or lower case")
    add("--corpus", type=Path, metavar="FILE", required=True, help="one sentence per line, or *.data.xml")
    add("--layer", type=int, metavar="K", help="0 is context-free (the top layer)")
    add("--vectors", type=Path, metavar="FILE", help="word vectors, for static neighbours")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--occurrence", type=int, metavar="N", default=1, help="query: the Nth in the corpus (1)")
    source.add_argument("--sentence", metavar="TEXT", help="query: WORD in this tokenised sentence")
    add("--top", type=int, metavar="N", default=5, help="number of neighbours (5)")
    parser.set_defaults(func=probe_neighbors)


def probe_wsd(args: argparse.Namespace) -> None:
    """Run `probe_senses` on a folder's files and print Table 5."""
    train, index_sense = train_file_in(args.data), args.data / "index.sense"
    evaluated = args.evaluate or evaluation_files_in(args.data)
    if args.answers is not None:
        check_output_path(args.answers / "any")
    report = probe_senses(_encoder(args, train, *evaluated, index_sense), train, evaluated, index_sense)
    print(wsd_table(report))
    if args.answers is not None:
        write_answers(report.rows, args.answers)
    rows = {row.name: {name: score._asdict() for name, score in row.scores.items()} for row in report.rows}
    _write(args, _sizes(report) | {"rows": rows, "train": str(train), "evaluated": [str(file) for file in evaluated]})


def probe_parts_of_speech(args: argparse.Namespace) -> None:
    """Run `probe_pos` and print Table 6."""
    require_sizes(max_steps=args.max_steps)
    report = probe_pos(_encoder(args, args.train, args.test), args.train, args.test, max_steps=args.max_steps)
    print(pos_table(report))
    rows = {row.name: row._asdict() for row in report.rows}
    _write(args, _sizes(report) | {"rows": rows, "train": str(args.train), "test": str(args.test)})


def probe_neighbors(args: argparse.Namespace) -> None:
    """Encode the corpus and print Table 4."""
    require_sizes(top=args.top)
    encoder = _encoder(args, args.corpus, args.vectors)
    static = None if args.vectors is None else nearest_words(args.vectors, args.word, top=args.top)
    index = index_corpus(read_corpus(args.corpus), encoder, args.layer)
    if args.sentence is None:
        query = occurrence_in_corpus(index, args.word, args.occurrence)
    else:
        query = occurrence_in_sentence(index, encoder, args.word, args.sentence.split())
    found = nearest_occurrences(index, args.word, query, top=args.top)
    name = f"{encoder.name} {index.layer}"
    print(neighbors_table(args.word, query.source, found, static, vectors=args.vectors, name=name))
    results = {"word": args.word, "layer": index.layer, "corpus": str(args.corpus), "static": static}
    results |= {"source": query.source._asdict(), "neighbors": [occurrence._asdict() for occurrence in found]}
    _write(args, results)


def _sizes(report: WsdReport | PosReport) -> dict[str, Any]:
    return report._asdict() | {"discordant": [pair._asdict() for pair in report.discordant]}


def _encoder(args: argparse.Namespace, *read: Path | None) -> FrozenEncoder:
    """The encoder, after a check of the output path."""
    if args.output is not None:
        check_output_path(args.output, read=[*read, *files_read(args)], device=True)
    layers, files = open_chosen(args)
    args.files = {key: file.given for key, file in files.files.items()}
    return FrozenEncoder.of(layers, files, device_of(args))


def _write(args: argparse.Namespace, results: dict[str, Any]) -> None:
    if args.output is not None:
        with atomic_write(args.output) as aside:
            text = json.dumps(args.files | results, indent=2, ensure_ascii=False) + "\n"
            aside.write_text(text, "utf-8", "backslashreplace")  # names of files may be no UTF-8
