"""`allennlp probe`: what the frozen layers know of senses and parts of speech, and whom they take for neighbours."""

import argparse
import json
from pathlib import Path
from typing import Any

from allennlp.commands.subcommand import Subcommand

from elmo_tasks import settings
from elmo_tasks.atomic import atomic_write, check_output_path
from elmo_tasks.commands.actions import ActionsSubcommand
from elmo_tasks.commands.probe_tables import neighbors_table, pos_table, wsd_table
from elmo_tasks.errors import InputError
from elmo_tasks.probing.index import open_index
from elmo_tasks.probing.layers import Source
from elmo_tasks.probing.neighbors import (
    nearest_occurrences,
    nearest_words,
    occurrence_in_corpus,
    occurrence_in_sentence,
)
from elmo_tasks.probing.pos import PosRow, probe_pos
from elmo_tasks.probing.softmax import MAX_STEPS
from elmo_tasks.probing.tagged import FORMATS
from elmo_tasks.probing.wsd import probe_senses
from elmo_tasks.probing.wsd_files import evaluation_files_in, train_file_in, write_answers
from elmo_tasks.ranges import require_sizes

_WSD = (
    "Table 5: the nearest mean of SemCor's annotations by cosine, among the senses of the same lemma and part of"
    " speech; WordNet's first sense where SemCor does not have the lemma; a target of several tokens has their mean."
)
_POS = (
    "Table 6: a linear softmax on each frozen layer, trained by L-BFGS until it converges: no seed and no order matter."
    " Files are CoNLL-U (XPOS), or have a sentence a line of word/tag or word_tag."
)
_NEIGHBORS = (
    "Table 4: the occurrences of a word whose vectors are nearest to those of one of its occurrences, by cosine. An"
    " index of the corpus is built at the first call, goes on where it was stopped, and serves all later ones."
)


@Subcommand.register("probe")
class Probe(ActionsSubcommand):
    """`allennlp probe wsd | pos | neighbors`."""

    description = "Ask the frozen layers for word senses, parts of speech and neighbours, as the paper's Tables 4 to 6."

    def add_actions(self, actions: argparse._SubParsersAction) -> None:
        """One parser each."""
        _add_wsd(actions)
        _add_pos(actions)
        _add_neighbors(actions)


def _add(actions: argparse._SubParsersAction, name: str, description: str, short: str) -> argparse.ArgumentParser:
    """A parser with what all three take."""
    parser: argparse.ArgumentParser = actions.add_parser(name, description=description, help=short)
    parser.add_argument("--options-file", metavar="FILE", help="of the biLM (embedded)")
    parser.add_argument("--weight-file", metavar="FILE", help="of the biLM (embedded), or CoVe's")
    parser.add_argument(
        "--cove-vectors", metavar="FILE", help="CoVe's word vectors, plain text: CoVe in place of the biLM"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the results as JSON, too")
    return parser


def _add_wsd(actions: argparse._SubParsersAction) -> None:
    parser = _add(actions, "wsd", _WSD, "word senses by the nearest sense vector")
    where = "SemCor/semcor.data.xml, Evaluation_Datasets/*/*.data.xml, keys beside them, and index.sense"
    parser.add_argument("data", type=Path, metavar="FOLDER", help=f"has {where}")
    parser.add_argument("--train", type=Path, metavar="FILE", help="another *.data.xml than SemCor")
    parser.add_argument("--evaluate", type=Path, metavar="FILE", nargs="+", help="other sets than FOLDER has")
    parser.add_argument("--index-sense", type=Path, metavar="FILE", help="WordNet's index.sense, if it lies elsewhere")
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FOLDER",
        help="write each row's answers as SET.ROW.key.txt, for the official scorer",
    )
    parser.set_defaults(func=probe_wsd)


def _add_pos(actions: argparse._SubParsersAction) -> None:
    parser = _add(actions, "pos", _POS, "parts of speech by a linear softmax")
    parser.add_argument("train", type=Path, metavar="TRAIN", help="tagged file to train on")
    parser.add_argument("test", type=Path, metavar="TEST", help="tagged file to score; never the training file")
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="of both files (as they look)")
    parser.add_argument("--max-steps", type=int, metavar="N", default=MAX_STEPS, help=f"of L-BFGS ({MAX_STEPS})")
    parser.set_defaults(func=probe_parts_of_speech)


def _add_neighbors(actions: argparse._SubParsersAction) -> None:
    parser = _add(actions, "neighbors", _NEIGHBORS, "nearest occurrences of a word, and nearest word vectors")
    parser.add_argument("word", metavar="WORD", help="upper and lower case do not differ")
    parser.add_argument("--corpus", type=Path, metavar="FILE", required=True, help="a sentence a line, or *.data.xml")
    parser.add_argument("--index", type=Path, metavar="FOLDER", required=True, help="where the index is, or will be")
    parser.add_argument("--layer", type=int, metavar="K", help="0 is context-free (the top one)")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="word vectors, for the static neighbours")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--occurrence", type=int, metavar="N", default=1, help="start from the corpus' Nth (1)")
    source.add_argument("--sentence", metavar="TEXT", help="start from this tokenised sentence instead")
    parser.add_argument("--any-word", action="store_true", help="among all tokens, not those of WORD alone")
    parser.add_argument("--top", type=int, metavar="N", default=5, help="how many neighbours (5)")
    parser.add_argument("--rebuild", action="store_true", help="replace the index that is there")
    parser.set_defaults(func=probe_neighbors)


def probe_wsd(args: argparse.Namespace) -> None:
    """Runs `probe_senses` on a folder's files and prints Table 5's rows."""
    train = args.train or train_file_in(args.data)
    evaluated = args.evaluate or evaluation_files_in(args.data)
    index_sense = args.index_sense or args.data / "index.sense"
    if args.answers is not None:
        check_output_path(args.answers / "any")
    report = probe_senses(_source(args, train, *evaluated, index_sense), train, evaluated, index_sense)
    print(wsd_table(report))
    if args.answers is not None:
        write_answers(report.rows, args.answers)
    rows = {row.name: {name: score._asdict() for name, score in row.scores.items()} for row in report.rows}
    _write(args, report._asdict() | {"rows": rows, "train": str(train), "evaluated": [str(file) for file in evaluated]})


def probe_parts_of_speech(args: argparse.Namespace) -> None:
    """Runs `probe_pos` and prints Table 6's rows."""
    require_sizes(max_steps=args.max_steps)
    report = probe_pos(
        _source(args, args.train, args.test), args.train, args.test, form=args.format, max_steps=args.max_steps
    )
    print(pos_table(report))
    rows = {row.name: _told(row) for row in report.rows}
    _write(args, report._asdict() | {"rows": rows, "train": str(args.train), "test": str(args.test)})


def probe_neighbors(args: argparse.Namespace) -> None:
    """Opens or builds the index and prints Table 4's rows."""
    require_sizes(top=args.top)
    source = _source(args, args.corpus, args.vectors)
    static = None if args.vectors is None else nearest_words(args.vectors, args.word, top=args.top)
    index = open_index(args.index, args.corpus, source, layer=args.layer, rebuild=args.rebuild)
    if args.sentence is None:
        question = occurrence_in_corpus(index, args.word, args.occurrence)
    else:
        question = occurrence_in_sentence(index, source.encoder, args.word, args.sentence.split())
    found = nearest_occurrences(index, args.word, question, top=args.top, any_word=args.any_word)
    name = f"{source.name} {index.layer}"
    print(neighbors_table(args.word, question.source, found, static, vectors=args.vectors, name=name))
    _write(
        args,
        {
            "word": args.word,
            "layer": index.layer,
            "corpus": str(args.corpus),
            "source": question.source._asdict(),
            "neighbors": [occurrence._asdict() for occurrence in found],
            "static": static,
        },
    )


def _told(row: PosRow) -> dict[str, Any]:
    fitted = {} if row.fitted is None else row.fitted._asdict()
    kept = {name: fitted[name] for name in ("loss", "steps", "converged") if fitted}
    return {"accuracy": row.accuracy, "seen": row.seen, "unseen": row.unseen} | kept


def _source(args: argparse.Namespace, *read: Path | None) -> Source:
    """The encoder; before it, whether there is a place for the results of what may take long."""
    if args.output is not None:
        files = (args.options_file, args.weight_file, args.cove_vectors)
        check_output_path(args.output, read=[*read, *files], device=True)
    if args.cove_vectors is not None:
        if args.weight_file is None or args.options_file is not None:
            raise InputError("--cove-vectors goes with --weight-file, CoVe's own, and without --options-file")
        return Source.of_cove(args.cove_vectors, args.weight_file)
    args.options_file, args.weight_file = settings.bilm_files(args.options_file, args.weight_file)
    return Source.of_bilm(args.options_file, args.weight_file)


def _write(args: argparse.Namespace, told: dict[str, Any]) -> None:
    if args.output is not None:
        cove = args.cove_vectors is not None
        auxiliary_file = {"vectors_file": args.cove_vectors} if cove else {"options_file": str(args.options_file)}
        encoder = auxiliary_file | {"weight_file": str(args.weight_file)}
        with atomic_write(args.output) as aside:
            aside.write_text(json.dumps(encoder | told, indent=2, ensure_ascii=False) + "\n", "utf-8")
