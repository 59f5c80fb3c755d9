"""`elmo-tasks bilm prepare | plan | score`: the actions for a biLM of any language."""

import argparse
import json
import os
import shlex
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.files import check_output_path
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.pretraining.evaluation import Words, score_pairs, score_sentences
from elmo_tasks.pretraining.export import load_trained
from elmo_tasks.pretraining.prepare import prepare, sentence_splitter
from elmo_tasks.pretraining.sentences import expand_files
from elmo_tasks.pretraining.sizes import Training, choose_training, sample_corpus, write_config
from elmo_tasks.resources import configs_root

_LANGUAGE_HELP = "spaCy's rules for this language split raw text, such as la; default: blanks separate the words"


def add_prepare(actions: argparse._SubParsersAction) -> None:
    """The parser of `prepare`."""
    description = (
        "Write train.*.txt.gz and heldout.*.txt.gz with a sentence a line and blanks between words, from text, JSON "
        "lines (both also .gz and .zst), Parquet, saved Hugging Face datasets, or folders of these. Finished files are "
        "kept when the command is repeated."
    )
    parser = actions.add_parser("prepare", description=description, help="split a corpus into sentences and words")
    parser.add_argument("inputs", metavar="INPUT", nargs="+", help="a file, a pattern or a folder")
    parser.add_argument("-o", "--out", metavar="DIR", required=True, help="folder for the text")
    parser.add_argument("--language", metavar="CODE", help=_LANGUAGE_HELP)
    parser.add_argument(
        "--text-field", default="text", metavar="NAME", help="field of JSON lines, Parquet and datasets"
    )
    parser.add_argument("--heldout", type=int, default=100, metavar="N", help="hold out one paragraph in N; 0: none")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes")
    parser.set_defaults(func=_prepare)


def add_plan(actions: argparse._SubParsersAction) -> None:
    """The parser of `plan`."""
    description = (
        "Read a sample of the text, measure training speed on this machine, and suggest a configuration for the hours "
        "that there are."
    )
    parser = actions.add_parser("plan", description=description, help="choose sizes for a corpus and a budget")
    parser.add_argument("files", metavar="FILE", nargs="+", help="training text, as `prepare` writes it; patterns")
    parser.add_argument("--heldout", metavar="FILE", nargs="+", required=True, help="held-out text")
    parser.add_argument("--hours", type=float, default=2.0, metavar="H", help="budget")
    parser.add_argument("--sample", type=int, default=2_000_000, metavar="N", help="words to read")
    parser.add_argument("-o", "--out", metavar="FILE", required=True, help="the Jsonnet file to write")
    parser.add_argument("--force", action="store_true", help="overwrite the file")
    base = str(configs_root() / "small" / "bilm.jsonnet")
    parser.add_argument("--base", default=base, metavar="FILE", help="config to import (bilm at scale small)")
    parser.set_defaults(func=_plan)


def add_score(actions: argparse._SubParsersAction) -> None:
    """The parser of `score`."""
    description = (
        "Log-probabilities (natural logarithm) of sentences in both directions, as JSON lines; or accuracy on minimal "
        "pairs. The exact softmax is over the vocabulary: other words count as <UNK>, whose probability they share."
    )
    parser = actions.add_parser("score", description=description, help="score sentences or minimal pairs")
    parser.add_argument("run", metavar="RUN", help="an exported folder, a run's folder or its model.tar.gz")
    parser.add_argument("file", metavar="FILE", help="a sentence a line; with --pairs JSON lines with good and bad")
    parser.add_argument("--pairs", action="store_true", help="accuracy on minimal pairs such as BLiMP's")
    parser.add_argument("--per-token", action="store_true", help="add the log-probability of each word")
    parser.add_argument("--language", metavar="CODE", help=_LANGUAGE_HELP)
    parser.set_defaults(func=_score)


def _prepare(args: argparse.Namespace) -> None:
    prepare(
        args.inputs,
        args.out,
        language=args.language,
        text_field=args.text_field,
        heldout=args.heldout,
        workers=args.workers,
    )
    for split in ("train", "heldout"):
        print(f"{args.out}/{split}.*.txt.gz: {len(list(Path(args.out).glob(f'{split}.*.txt.gz'))):,} files")


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
    print(_described(training, len(sample.vocabulary)))
    base = os.path.relpath(Path(args.base).resolve(), Path(args.out).resolve().parent)
    write_config(Path(args.out), training.fields(sample, files, heldout), base=base)
    print(f"elmo-tasks train {shlex.quote(args.out)} -s RUN")


def _described(training: Training, words: int) -> str:
    sizes = training.options
    return (
        f"suggested        {sizes.dim}/{sizes.projection_dim} units, {sizes.n_parameters / 1e6:.1f} million parameters,"
        f" {words:,} words, {training.precision}\n"
        f"                 {training.steps:,} steps, {training.passes:.1f} passes, {training.speed:,.0f} words/s"
    )


def _score(args: argparse.Namespace) -> None:
    split = sentence_splitter(args.language)

    def parse(text: str) -> Words:
        return tuple(word for sentence in split(text) for word in sentence)

    trained = load_trained(args.run)
    if args.pairs:
        rows = score_pairs(trained.model, trained.vocabulary, args.file, parse=parse)
        print("accuracy in percent, 50 by chance; low to high is the 95 % interval (Wilson) of mean")
        names = ("forward", "backward", "mean", "low", "high")
        print(f"{'pairs':>7} {' '.join(f'{name:>8}' for name in names)} {'ties':>5} {'<UNK> %':>8}  group")
        for row in rows:
            accuracies = " ".join(f"{getattr(row, name):8.2f}" for name in names)
            print(f"{row.pairs:>7} {accuracies} {row.ties:>5} {row.unknown:8.2f}  {row.group}")
        return
    sentences = [words for _, line in open_text(args.file) if (words := parse(line))]
    if not sentences:
        raise InputError("expected sentences, got none", file=args.file)
    scores = score_sentences(trained.model, trained.vocabulary, sentences)
    for words, score in zip(sentences, scores, strict=True):
        totals = zip(("forward", "backward", "mean"), score.totals, strict=True)
        fields: dict[str, Any] = {"words": words, "unknown": score.unknown} | {
            name: round(total, 4) for name, total in totals
        }
        if args.per_token:
            fields["per_token"] = {"forward": score.forward, "backward": score.backward}
        print(json.dumps(fields, ensure_ascii=False))
