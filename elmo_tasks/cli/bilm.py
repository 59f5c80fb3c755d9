"""
`elmo-tasks bilm`: prepare text for a bidirectional language model, export it, and
measure it.
"""

import argparse
from pathlib import Path

from elmo_tasks.cli import bilm_random, bilm_score, bilm_surprisal
from elmo_tasks.cli.arguments import (
    add_actions,
    add_format,
    add_language_model,
    add_table_options,
    location,
    table_options,
)
from elmo_tasks.option_values import (
    CARRY,
    PERPLEXITY_ROWS,
    RESET,
    HeldOut,
    MantissaBits,
)
from elmo_tasks.settings import Size, number
from elmo_tasks.system.run_names import CARD_FILE

_PREPARE = (
    "Write train.*.txt.gz and heldout.*.txt.gz with one tokenised sentence per line. Inputs are text, JSON lines, CSV "
    "and TSV (also .gz and .zst), and Parquet. The folder appears when the text is complete."
)
_EXPORT = (
    "Write a run's best weights as the official options.json and weights.hdf5, and vocabulary.txt and softmax.hdf5 for "
    "perplexity and fine-tuning. With --format safetensors, the first two are config.json and model.safetensors."
)
_PERPLEXITY = (
    "Print the perplexity of the exact softmax. Sentence ends and `<UNK>` count as words, and every token is "
    "predicted once in each direction. `mean` is the geometric mean of the directions."
)
_STATE_HELP = (
    "what each sentence starts from: carry, the last states of the sentence before it in the same place, as in"
    " training (default); or reset, zero states"
)
_LANGUAGE_HELP = (
    "split raw text by spaCy's rules for this language, such as la (default: words are"
    " separated by blanks)"
)
_WRAPPED_HELP = (
    "the lines of raw text are wrapped: sentences go on in the next line, and blank lines separate paragraphs (default:"
    " each line is a paragraph)"
)
_FOR_MODEL_HELP = (
    "the language model that the text is for, to tune or to measure it: typographic marks that its vocabulary lacks are"
    " written as plain ones, such as ' for ’ (default: marks stay as they are)"
)
DESCRIPTION = (
    "Prepare text for a bidirectional language model, export a trained one, or measure it: its perplexity, the"
    " surprisal of words, minimal pairs."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """
    The actions of `elmo-tasks bilm prepare | export | random | perplexity | surprisal | score`.
    """
    add = add_actions(parser).add_parser
    text = "split a corpus into sentences and words"
    _add_prepare(add("prepare", description=_PREPARE, help=text))
    text = "write the official files"
    _add_export(add("export", description=_EXPORT, help=text))
    text = "write a biLM with random weights"
    action = add("random", description=bilm_random.DESCRIPTION, help=text)
    bilm_random.add_arguments(action)
    text = "measure the perplexity on files"
    _add_perplexity(add("perplexity", description=_PERPLEXITY, help=text))
    text = "write the surprisal of each word of a text"
    action = add("surprisal", description=bilm_surprisal.DESCRIPTION, help=text)
    bilm_surprisal.add_arguments(action)
    text = "print the accuracy on minimal pairs"
    action = add("score", description=bilm_score.DESCRIPTION, help=text)
    bilm_score.add_arguments(action)


def _add_prepare(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(func=_prepare)
    add = parser.add_argument
    add(
        "inputs",
        type=location,
        metavar="INPUT",
        nargs="+",
        help="a file or a pattern",
    )
    add(
        "--output",
        type=location,
        metavar="DIR",
        required=True,
        help="folder for the text",
    )
    add("--language", metavar="CODE", help=_LANGUAGE_HELP)
    add(
        "--text-field",
        default="text",
        metavar="NAME",
        help="column of the text in tables (default: text)",
    )
    add_table_options(parser)
    add(
        "--heldout",
        type=number(HeldOut),
        default=100,
        metavar="N",
        help="hold out one paragraph in N; 0: none (default: 100)",
    )
    add("--wrapped", action="store_true", help=_WRAPPED_HELP)
    add("--model", type=location, help=_FOR_MODEL_HELP)


def _prepare(args: argparse.Namespace) -> None:
    from elmo_tasks.pretraining.text.prepare import HELDOUT, TRAIN, prepare
    from elmo_tasks.system.terminal import terminal_bar

    names = ("language", "wrapped", "text_field", "heldout", "model")
    options = {name: getattr(args, name) for name in names} | table_options(args)
    with terminal_bar(desc="files") as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        prepared = prepare(args.inputs, args.output, progress=progress, **options)
    for split in (TRAIN, HELDOUT):
        found = [one for one in prepared if one.split == split]
        sentences = sum([one.sentences for one in found])
        words = sum([one.words for one in found])
        counts = f"{len(found):,} files, {sentences:,} sentences, {words:,} words"
        print(f"{args.output}/{split}.*.txt.gz: {counts}")


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(func=_export)
    parser.add_argument(
        "run",
        type=location,
        metavar="RUN",
        help="folder of a run (after its first validation)",
    )
    parser.add_argument(
        "out", type=location, metavar="OUT", help="folder for the four files"
    )
    add_format(parser)
    card = parser.add_argument_group(
        "model card",
        "what README.md says of the biLM",
    )
    add = card.add_argument
    add("--language", metavar="CODE", help="language of the biLM, such as la")
    add(
        "--license",
        metavar="ID",
        help="identifier of the licence on the hub, such as cc-by-sa-4.0",
    )
    add("--text", metavar="WORDS", help="what the biLM was trained on")
    bits = "round weights to N bits after the leading one (0 to 23), so that compressed files are smaller"
    parser.add_argument(
        "--mantissa-bits", type=number(MantissaBits), metavar="N", help=bits
    )


def _export(args: argparse.Namespace) -> None:
    from elmo_tasks.elmo.models.card import CardSettings
    from elmo_tasks.pretraining.export import export_run, exported_names

    about = CardSettings(language=args.language, license=args.license, text=args.text)
    source = export_run(
        args.run,
        args.out,
        chosen=args.format,
        mantissa_bits=args.mantissa_bits,
        about=about,
    )
    print(f"weights of {source}")
    for name in (*exported_names(args.format), CARD_FILE):
        path = Path(args.out) / name
        print(f"{path.stat().st_size:>12,} bytes  {path}")


def _add_perplexity(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(func=_perplexity)
    add = parser.add_argument
    add(
        "files",
        type=location,
        metavar="FILE",
        nargs="+",
        help="text with one tokenised sentence per line; also gzip and globs",
    )
    add(
        "--batch-size",
        type=number(Size),
        default=PERPLEXITY_ROWS,
        metavar="B",
        help="number of positions in a file that are read in parallel (default: %(default)s)",
    )
    add("--state", choices=(CARRY, RESET), default=CARRY, help=_STATE_HELP)
    add(
        "--max-tokens",
        type=number(Size),
        metavar="N",
        help="stop after N tokens of each file",
    )
    add_language_model(parser)


def _perplexity(args: argparse.Namespace) -> None:
    from tqdm import tqdm

    from elmo_tasks.cli.running.perplexities import (
        HEADER,
        perplexity_line,
        weights_line,
    )
    from elmo_tasks.elmo.devices import opened_device
    from elmo_tasks.pretraining.export import load_trained, packed
    from elmo_tasks.pretraining.scores.perplexity import perplexity
    from elmo_tasks.pretraining.text.sentences import expand_files
    from elmo_tasks.system.terminal import terminal_bar

    files = expand_files(args.files)
    device = opened_device(args.device)
    trained = packed(load_trained(args.model), args.precision, device)
    print(weights_line(trained))
    print(HEADER)
    unit = " sentences" if args.state == RESET else " batches"
    with terminal_bar(unit=unit, leave=False) as bar:
        for name, found in perplexity(
            trained.model,
            trained.vocabulary,
            files,
            state=args.state,
            rows=args.batch_size,
            max_tokens=args.max_tokens,
            progress=bar.update,
        ):
            with tqdm.external_write_mode():
                print(perplexity_line(name, found), flush=True)
