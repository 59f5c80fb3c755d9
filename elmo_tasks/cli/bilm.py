"""`elmo-tasks bilm`: prepare text for a bidirectional language model, plan it, export it, measure it, share it."""

import argparse
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elmo_tasks.bilm import BiLM
from elmo_tasks.bilm.packed_linear import INFERENCE_PRECISIONS
from elmo_tasks.cli.actions import ActionsCommand
from elmo_tasks.errors import InputError
from elmo_tasks.files import check_output_path
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.pretraining.evaluation import ROWS, PairAccuracy, Words, perplexity, score_pairs, score_sentences
from elmo_tasks.pretraining.export import ADDED, EXPORTED, check_card, export_run, load_trained, write_card
from elmo_tasks.pretraining.prepare import prepare, sentence_splitter
from elmo_tasks.pretraining.sentences import expand_files
from elmo_tasks.pretraining.sizes import choose_training, sample_corpus, write_config
from elmo_tasks.pretraining.tf_checkpoint import import_softmax
from elmo_tasks.resources import configs_root

_RUN_HELP = "folder of a run (while it trains, too), its model.tar.gz, or an exported folder"
_LANGUAGE_HELP = "spaCy's rules for this language split raw text, such as la; default: blanks separate the words"
_HEADER = f"{'tokens':>12} {'<UNK> %':>8} {'forward':>9} {'backward':>9} {'mean':>9} {'arithm.':>9}"
_HEADER += f" {'low':>9} {'high':>9} {'batches':>8}  file"


class Bilm(ActionsCommand):
    """`elmo-tasks bilm prepare | plan | export | perplexity | score | import-softmax`."""

    description = "Prepare text for a bidirectional language model; export a trained one, or measure one."

    def add_actions(self, actions: argparse._SubParsersAction) -> None:
        """One parser each."""
        for add in (_add_prepare, _add_plan, _add_export, _add_perplexity, _add_score, _add_import_softmax):
            add(actions)


def _parser(
    actions: argparse._SubParsersAction, func: Callable[[argparse.Namespace], None], name: str, text: str, help: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, description=text, help=help)
    parser.set_defaults(func=func)
    return parser


def _add_prepare(actions: argparse._SubParsersAction) -> None:
    description = (
        "Write train.*.txt.gz and heldout.*.txt.gz with a sentence a line and blanks between words, from text, JSON "
        "lines (both also .gz and .zst), Parquet, saved Hugging Face datasets, or folders of these. Finished files are "
        "kept when the command is repeated."
    )
    add = _parser(actions, _prepare, "prepare", description, "split a corpus into sentences and words").add_argument
    add("inputs", metavar="INPUT", nargs="+", help="a file, a pattern or a folder")
    add("-o", "--out", metavar="DIR", required=True, help="folder for the text")
    add("--language", metavar="CODE", help=_LANGUAGE_HELP)
    add("--text-field", default="text", metavar="NAME", help="field of JSON lines, Parquet and datasets")
    add("--heldout", type=int, default=100, metavar="N", help="hold out one paragraph in N; 0: none")
    add("--workers", type=int, default=1, metavar="N", help="processes")


def _prepare(args: argparse.Namespace) -> None:
    options = {name: getattr(args, name) for name in ("language", "text_field", "heldout", "workers")}
    prepare(args.inputs, args.out, **options)
    for split in ("train", "heldout"):
        print(f"{args.out}/{split}.*.txt.gz: {len(list(Path(args.out).glob(f'{split}.*.txt.gz'))):,} files")


def _add_plan(actions: argparse._SubParsersAction) -> None:
    description = (
        "Read a sample of the text, measure training speed on this machine, and suggest a configuration for the hours "
        "that there are."
    )
    add = _parser(actions, _plan, "plan", description, "choose sizes for a corpus and a budget").add_argument
    add("files", metavar="FILE", nargs="+", help="training text, as `prepare` writes it; patterns")
    add("--heldout", metavar="FILE", nargs="+", required=True, help="held-out text")
    add("--hours", type=float, default=2.0, metavar="H", help="budget")
    add("--sample", type=int, default=2_000_000, metavar="N", help="words to read")
    add("-o", "--out", metavar="FILE", required=True, help="the Jsonnet file to write")
    add("--force", action="store_true", help="overwrite the file")
    base = str(configs_root() / "small" / "bilm.jsonnet")
    add("--base", default=base, metavar="FILE", help="config to import (bilm at scale small)")


def _plan(args: argparse.Namespace) -> None:
    files, heldout = expand_files(args.files), expand_files(args.heldout)
    if not Path(args.base).is_file():
        raise InputError("no such file: the config to import", file=args.base, hint="--base names it")
    check_output_path(args.out, read=[*files, *heldout, args.base])
    if Path(args.out).is_file() and not args.force:
        raise InputError("the file exists, perhaps with your changes", file=args.out, hint="--force overwrites it")
    sample = sample_corpus(files, words=args.sample)
    print(f"words            {sample.tokens:,} (estimated), {sample.types:,} types in the sample")
    for size, share in sample.unknown.items():
        print(f"<UNK>            {share:7.2%} with a vocabulary of {size:,} words")
    enough = f"max_characters_per_token {sample.characters} truncates less than 0.1 %"
    print(f"truncated words  {sample.truncated:7.2%} with 50 characters; {enough}")
    training = choose_training(sample, hours=args.hours)
    sizes, words = training.options, len(sample.vocabulary)
    print(f"suggested        {sizes.dim}/{sizes.projection_dim} units, {sizes.n_parameters / 1e6:.1f} million", end="")
    print(f" parameters, {words:,} words, {training.precision}")
    print(f"{'':17}{training.steps:,} steps, {training.passes:.1f} passes, {training.speed:,.0f} words/s")
    base = os.path.relpath(Path(args.base).resolve(), Path(args.out).resolve().parent)
    write_config(Path(args.out), training.fields(sample, files, heldout), base=base)
    print(f"elmo-tasks train {shlex.quote(args.out)} -s RUN")


def _add_export(actions: argparse._SubParsersAction) -> None:
    description = (
        "Write the official options.json and weights.hdf5 of a run's best weights, and beside them "
        "vocabulary.txt and softmax.hdf5, for perplexity and fine-tuning."
    )
    parser = _parser(actions, _export, "export", description, "write the official files")
    parser.add_argument("run", metavar="RUN", help="folder of a run (while it trains, too), its model.tar.gz")
    parser.add_argument("out", metavar="OUT", help="folder for the four files")
    bits = "round values to N bits after the leading one (0 to 23): smaller files"
    parser.add_argument("--mantissa-bits", type=int, metavar="N", help=bits)
    card = parser.add_argument_group("to share it", "with --card, README.md and weights.safetensors are written, too")
    card.add_argument("--card", metavar="OWNER/NAME", help="the repository's name on the Hugging Face Hub")
    card.add_argument("--language", metavar="CODE", help="such as la")
    card.add_argument("--license", metavar="ID", help="such as cc-by-sa-4.0")
    card.add_argument("--corpus", metavar="TEXT", help="the training text, in words")


def _export(args: argparse.Namespace) -> None:
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


def _add_perplexity(actions: argparse._SubParsersAction) -> None:
    description = (
        "Perplexity of the exact softmax; sentence ends and <UNK> count as words, every token is predicted "
        "once in each direction. `mean` is the geometric mean of the directions, `low` to `high` its 95 % interval "
        "(normal, over batches)."
    )
    add = _parser(actions, _perplexity, "perplexity", description, "measure on files").add_argument
    add("run", metavar="RUN", help=_RUN_HELP)
    add("files", metavar="FILE", nargs="+", help="text, a tokenised sentence a line; gzip, globs")
    add("--batch-size", type=int, default=ROWS, metavar="B", help="places of a file read at once")
    add("--max-tokens", type=int, metavar="N", help="stop after N tokens of each file")
    precision = "of the biLM's matrix products, not of the softmax (float32)"
    add("--precision", choices=INFERENCE_PRECISIONS, default="float32", help=precision)


def _perplexity(args: argparse.Namespace) -> None:
    """Prints a line per file, and one over all."""
    files = expand_files(args.files)
    trained = load_trained(args.run)
    bilm = BiLM(trained.model.bilm.options, precision=args.precision, initialize=False)
    bilm.load_state_dict(trained.model.bilm.state_dict())
    trained.model.bilm = bilm.eval().pack()
    print(f"weights of {trained.source}, {len(trained.vocabulary):,} words, which is the perplexity by chance")
    print(_HEADER)
    options = {"rows": args.batch_size, "max_tokens": args.max_tokens}
    for name, found in perplexity(trained.model, trained.vocabulary, files, **options):
        values = (found.forward, found.backward, found.geometric, found.arithmetic, *found.interval)
        shown = " ".join(f"{value:>9.3f}" for value in values)
        counts = f"{found.tokens // 2:>12,} {100 * found.unknown_share:>8.2f}"
        print(f"{counts} {shown} {found.batches:>8,}  {name}", flush=True)


def _add_score(actions: argparse._SubParsersAction) -> None:
    description = (
        "Log-probabilities (natural logarithm) of sentences in both directions, as JSON lines; or accuracy on minimal "
        "pairs. The exact softmax is over the vocabulary: other words count as <UNK>, whose probability they share."
    )
    add = _parser(actions, _score, "score", description, "score sentences or minimal pairs").add_argument
    add("run", metavar="RUN", help=_RUN_HELP)
    add("file", metavar="FILE", help="a sentence a line; with --pairs JSON lines with good and bad")
    add("--pairs", action="store_true", help="accuracy on minimal pairs such as BLiMP's")
    add("--per-token", action="store_true", help="add the log-probability of each word")
    add("--language", metavar="CODE", help=_LANGUAGE_HELP)


def _score(args: argparse.Namespace) -> None:
    split = sentence_splitter(args.language)

    def parse(text: str) -> Words:
        return tuple(word for sentence in split(text) for word in sentence)

    trained = load_trained(args.run)
    if args.pairs:
        _print_pairs(score_pairs(trained.model, trained.vocabulary, args.file, parse=parse))
        return
    sentences = [words for _, line in open_text(args.file) if (words := parse(line))]
    if not sentences:
        raise InputError("expected sentences, got none", file=args.file)
    scores = score_sentences(trained.model, trained.vocabulary, sentences)
    for words, score in zip(sentences, scores, strict=True):
        fields: dict[str, Any] = {"words": words, "unknown": score.unknown}
        fields |= zip(("forward", "backward", "mean"), (round(total, 4) for total in score.totals), strict=True)
        if args.per_token:
            fields["per_token"] = {"forward": score.forward, "backward": score.backward}
        print(json.dumps(fields, ensure_ascii=False))


def _print_pairs(rows: list[PairAccuracy]) -> None:
    print("accuracy in percent, 50 by chance; low to high is the 95 % interval (Wilson) of mean")
    names = ("forward", "backward", "mean", "low", "high")
    print(f"{'pairs':>7} {' '.join(f'{name:>8}' for name in names)} {'ties':>5} {'<UNK> %':>8}  group")
    for row in rows:
        accuracies = " ".join(f"{getattr(row, name):8.2f}" for name in names)
        print(f"{row.pairs:>7} {accuracies} {row.ties:>5} {row.unknown:8.2f}  {row.group}")


def _add_import_softmax(actions: argparse._SubParsersAction) -> None:
    description = (
        "Write softmax.hdf5 and vocabulary.txt of a checkpoint of bilm-tf beside the options.json and weights.hdf5 of "
        "the same biLM, for its perplexity and for fine-tuning. Needs the package tensorflow-cpu."
    )
    help = "read the softmax of a checkpoint"
    add = _parser(actions, _import_softmax, "import-softmax", description, help).add_argument
    add("checkpoint", metavar="CHECKPOINT", help="prefix of its files, such as model.ckpt-935588")
    add("folder", metavar="FOLDER", help="folder of options.json and weights.hdf5")
    add("--vocabulary", metavar="FILE", required=True, help="the words, such as vocab-2016-09-10.txt")


def _import_softmax(args: argparse.Namespace) -> None:
    words = import_softmax(args.checkpoint, args.vocabulary, args.folder)
    print(f"softmax of {words:,} words in {args.folder}")
