"""`elmo-tasks bilm`: prepare text for a bidirectional language model, export it, measure it, share it."""

import argparse
from pathlib import Path

from elmo_tasks.bilm import BiLM
from elmo_tasks.bilm.packed_linear import INFERENCE_PRECISIONS
from elmo_tasks.cli.actions import ActionsCommand
from elmo_tasks.cli.language_actions import add_plan, add_prepare, add_score
from elmo_tasks.pretraining.evaluation import ROWS, PerplexityReport, perplexity
from elmo_tasks.pretraining.export import ADDED, EXPORTED, check_card, export_run, load_trained, write_card
from elmo_tasks.pretraining.sentences import expand_files
from elmo_tasks.pretraining.tf_checkpoint import import_softmax

_RUN_HELP = "folder of a run (while it trains, too), its model.tar.gz"
_HEADER = f"{'tokens':>12} {'<UNK> %':>8} {'forward':>9} {'backward':>9} {'mean':>9} {'arithm.':>9}"
_HEADER += f" {'low':>9} {'high':>9} {'batches':>8}  file"


class Bilm(ActionsCommand):
    """`elmo-tasks bilm prepare | plan | export | perplexity | score | import-softmax`."""

    description = "Prepare text for a bidirectional language model; export a trained one, or measure one."

    def add_actions(self, actions: argparse._SubParsersAction) -> None:
        """One parser each."""
        add_prepare(actions)
        add_plan(actions)
        _add_export(actions)
        _add_perplexity(actions)
        add_score(actions)
        _add_import_softmax(actions)


def _add_export(actions: argparse._SubParsersAction) -> None:
    description = (
        "Write the official options.json and weights.hdf5 of a run's best weights, and beside them "
        "vocabulary.txt and softmax.hdf5, for perplexity and fine-tuning."
    )
    parser = actions.add_parser("export", description=description, help="write the official files")
    parser.add_argument("run", metavar="RUN", help=_RUN_HELP)
    parser.add_argument("out", metavar="OUT", help="folder for the four files")
    parser.add_argument(
        "--mantissa-bits",
        type=int,
        metavar="N",
        help="round values to N bits after the leading one (0 to 23): smaller files",
    )
    card = parser.add_argument_group("to share it", "with --card, README.md and weights.safetensors are written, too")
    card.add_argument("--card", metavar="OWNER/NAME", help="the repository's name on the Hugging Face Hub")
    card.add_argument("--language", metavar="CODE", help="such as la")
    card.add_argument("--license", metavar="ID", help="such as cc-by-sa-4.0")
    card.add_argument("--corpus", metavar="TEXT", help="the training text, in words")
    parser.set_defaults(func=export)


def _add_perplexity(actions: argparse._SubParsersAction) -> None:
    description = (
        "Perplexity of the exact softmax; sentence ends and <UNK> count as words, every token is predicted "
        "once in each direction. `mean` is the geometric mean of the directions, `low` to `high` its 95 % interval "
        "(normal, over batches)."
    )
    parser = actions.add_parser("perplexity", description=description, help="measure on files")
    parser.add_argument("run", metavar="RUN", help=f"{_RUN_HELP}, or an exported folder")
    parser.add_argument("files", metavar="FILE", nargs="+", help="text, a tokenised sentence a line; gzip, globs")
    parser.add_argument("--batch-size", type=int, default=ROWS, metavar="B", help="places of a file read at once")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="stop after N tokens of each file")
    parser.add_argument(
        "--precision",
        choices=INFERENCE_PRECISIONS,
        default="float32",
        help="of the biLM's matrix products, not of the softmax (float32)",
    )
    parser.set_defaults(func=measure)


def _add_import_softmax(actions: argparse._SubParsersAction) -> None:
    description = (
        "Write softmax.hdf5 and vocabulary.txt of a checkpoint of bilm-tf beside the options.json and weights.hdf5 of "
        "the same biLM, for its perplexity and for fine-tuning. Needs the package tensorflow-cpu."
    )
    parser = actions.add_parser("import-softmax", description=description, help="read the softmax of a checkpoint")
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="prefix of its files, such as model.ckpt-935588")
    parser.add_argument("folder", metavar="FOLDER", help="folder of options.json and weights.hdf5")
    parser.add_argument("--vocabulary", metavar="FILE", required=True, help="the words, such as vocab-2016-09-10.txt")
    parser.set_defaults(func=read_softmax)


def export(args: argparse.Namespace) -> None:
    """Runs `export_run` and lists what it wrote."""
    described = {"name": args.card, "language": args.language, "license": args.license, "corpus": args.corpus}
    if args.card is not None:
        check_card(**described)
    source = export_run(args.run, args.out, mantissa_bits=args.mantissa_bits)
    print(f"weights of {source}")
    if args.card is not None:
        write_card(Path(args.out), Path(args.run), **described)
    for name in (*EXPORTED, *(ADDED if args.card else ())):
        path = Path(args.out) / name
        print(f"{path.stat().st_size:>12,} bytes  {path}")


def read_softmax(args: argparse.Namespace) -> None:
    """Runs `import_softmax`."""
    words = import_softmax(args.checkpoint, args.vocabulary, args.folder)
    print(f"softmax of {words:,} words in {args.folder}")


def measure(args: argparse.Namespace) -> None:
    """Prints a line per file, and one over all."""
    files = expand_files(args.files)
    trained = load_trained(args.run)
    bilm = BiLM(trained.model.bilm.options, precision=args.precision, initialize=False)
    bilm.load_state_dict(trained.model.bilm.state_dict())
    trained.model.bilm = bilm.eval().pack()
    words = len(trained.vocabulary)
    print(f"weights of {trained.source}, {words:,} words, which is the perplexity by chance")
    print(_HEADER)
    for name, report in perplexity(
        trained.model, trained.vocabulary, files, rows=args.batch_size, max_tokens=args.max_tokens
    ):
        print(_line(name, report), flush=True)


def _line(name: str, report: PerplexityReport) -> str:
    values = (report.forward, report.backward, report.geometric, report.arithmetic, *report.interval)
    shown = " ".join(f"{value:>9.3f}" for value in values)
    return f"{report.tokens // 2:>12,} {100 * report.unknown_share:>8.2f} {shown} {report.batches:>8,}  {name}"
