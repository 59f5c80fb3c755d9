"""`elmo-tasks elmo`: write the ELMo vectors of a text to a file. Imports torch, numpy and h5py alone."""

import argparse
import json
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

from elmo_tasks.bilm.packed_linear import INFERENCE_PRECISIONS
from elmo_tasks.cli.actions import Command
from elmo_tasks.cli.layer_sources import add_device, add_source_options, device_of, files_read, open_chosen
from elmo_tasks.elmo.hdf5_writer import check_vector_path
from elmo_tasks.elmo.sentence_embedder import Elmo, progress_bar
from elmo_tasks.elmo.vector_model import OUTPUTS
from elmo_tasks.errors import InputError, Interrupted, shown
from elmo_tasks.formats.raw_text import blank_pipeline, split_at_blanks
from elmo_tasks.formats.text_files import open_text

_DESCRIPTION = (
    "Write the vectors of every line of a text to an HDF5 file: datasets '0', '1', ... as in AllenNLP 0.x,"
    " and an index of sentences and tokens. After an interruption the same command resumes."
)

_STANDARD_INPUT = "/dev/stdin"

_HELP = {
    "all": "all layers of a token, shape [L+1, T, D] (default)",
    "top": "the top layer, shape [T, D]",
    "average": "the mean of all layers, shape [T, D]",
}


class ElmoCommand(Command):
    """`elmo-tasks elmo IN OUT`."""

    description = _DESCRIPTION
    includes_packages = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("input_file", metavar="IN", help="UTF-8 text, a sentence per line; gzip; - for a pipe")
        parser.add_argument("output_file", metavar="OUT", help="HDF5 file; OUT.part until it is complete")
        _add_output_options(parser)
        add_embedding_options(parser)
        parser.add_argument("--force", action="store_true", help="discard a partial result and start from scratch")
        parser.set_defaults(func=run)


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    outputs = parser.add_mutually_exclusive_group()
    for output in OUTPUTS:
        outputs.add_argument(
            f"--{output}", action="store_const", const=output, dest="output", default="all", help=_HELP[output]
        )
    stored = parser.add_mutually_exclusive_group()
    for name, text in (("float16", "half the size, values rounded to 11 bits"), ("int8", "a quarter of the size")):
        stored.add_argument(f"--{name}", action="store_const", const=name, dest="stored", default="float32", help=text)


def add_embedding_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the text, of the source and of its computation, for `open_elmo` and `parser_of`."""
    parser.add_argument(
        "--input-format",
        choices=("tokens", "text", "json"),
        default="tokens",
        help="a line is tokens between white space (default), raw text for spaCy's rules, or a JSON list of tokens",
    )
    add_source_options(parser)
    parser.add_argument(
        "--precision",
        choices=INFERENCE_PRECISIONS,
        default="float32",
        help="of the matrix products: float32 (default), bfloat16; int8 for CPUs",
    )
    parser.add_argument(
        "--max-length", type=int, default=512, metavar="N", help="longer lines are split into windows of N tokens (512)"
    )
    parser.add_argument("--overlap", type=int, default=128, metavar="N", help="tokens that windows share (128)")
    parser.add_argument("--batch-size", type=int, default=64, metavar="B", help="most sentences of a batch (64)")
    parser.add_argument("--max-tokens", type=int, default=4096, metavar="N", help="most tokens of a batch (4096)")
    add_device(parser)
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that compute vectors (1)")


def run(args: argparse.Namespace) -> None:
    """Write the vectors with a progress bar."""
    input_file = _STANDARD_INPUT if args.input_file == "-" else args.input_file
    check_vector_path(args.output_file, read=(input_file, *files_read(args)))
    elmo = open_elmo(args)
    parse, tokenizer = parser_of(args.input_format)
    with progress_bar() as bar:

        def started(counts: Mapping[str, int]) -> None:
            _print_counts(counts, args.max_length)
            bar.reset(total=counts["tokens"])

        try:
            written = elmo.write(
                open_text(input_file, longest=None),
                args.output_file,
                layers=args.output,
                stored=args.stored,
                parse=parse,
                settings={"input": args.input_file, "tokenizer": tokenizer},
                force=args.force,
                processes=args.workers,
                started=started,
                progress=bar.update,
            )
        except KeyboardInterrupt:
            raise Interrupted("the same command, without --force, resumes") from None
    size = Path(args.output_file).stat().st_size
    print(f"{args.output_file}: {size:,} bytes" if written else f"{args.output_file} is already complete")


def open_elmo(args: argparse.Namespace) -> Elmo:
    """The source, with the options of `add_embedding_options`."""
    device = device_of(args)
    layers, source = open_chosen(args, precision=args.precision)
    names = ("max_length", "overlap", "batch_size", "max_tokens")
    return Elmo(layers.to(device), source, **{name: getattr(args, name) for name in names})


def parser_of(input_format: str) -> tuple[Callable[[str], list[str]], str]:
    """The function that splits a line into tokens, and its name in the file."""
    if input_format == "text":
        tokenizer = blank_pipeline("en").tokenizer
        name = f"spaCy {version('spacy')}, blank English"
        return lambda line: [token.text for token in tokenizer(line) if not token.is_space], name
    if input_format == "json":
        return tokens_of_json, "JSON"
    return split_at_blanks("--input-format text splits raw text"), "white space"


def tokens_of_json(line: str) -> list[str]:
    """The tokens of a line `["the", "words"]`; none for a blank line. Raises `InputError` for any other line."""
    if not line.strip():
        return []
    try:
        tokens = json.loads(line)
    except (ValueError, RecursionError):
        tokens = None
    if not isinstance(tokens, list) or not all(isinstance(token, str) and token for token in tokens):
        raise InputError(f"expected a JSON list of tokens, got {shown(line)}")
    return tokens


def _print_counts(counts: Mapping[str, int], max_length: int) -> None:
    print(f"{counts['sentences']:,} sentences, {counts['tokens']:,} tokens")
    if counts["blank_lines"]:
        print(f"{counts['blank_lines']:,} lines have no tokens: their datasets are empty")
    if counts["long_lines"]:
        print(f"{counts['long_lines']:,} lines of more than {max_length:,} tokens are split into overlapping windows")
