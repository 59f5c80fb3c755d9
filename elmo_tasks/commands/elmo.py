"""`allennlp elmo`: text -> a file of ELMo vectors, the command that AllenNLP 0.x had."""

import argparse
import json
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import spacy
import torch
from allennlp.commands.subcommand import Subcommand

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.packed_linear import PRECISIONS
from elmo_tasks.data.files import open_text
from elmo_tasks.data.tokenizer import BlankSpacyTokenizer
from elmo_tasks.elmo.extract import extract, require_place
from elmo_tasks.elmo.extract_fill import Progress
from elmo_tasks.elmo.extraction import OUTPUTS, Extraction
from elmo_tasks.elmo.sources import Source, open_bilm
from elmo_tasks.errors import InputError, shown
from elmo_tasks.prediction.json_input import NOT_JSON, json_problem, loaded, words_of
from elmo_tasks.settings import bilm_files

_DESCRIPTION = (
    "Write the biLM's vectors of every line of a text into an HDF5 file: datasets '0', '1', ... as AllenNLP 0.x named"
    " them, and an index of sentences and tokens. Killed at any moment, the same command goes on."
)

_SECONDS_BETWEEN_LINES = 10.0

_CPU = -1

_STANDARD_INPUT = "/dev/stdin"

_HELP = {
    "all": "all layers of a token, shape [L+1, T, 2P] (default)",
    "top": "the top layer, shape [T, 2P]",
    "average": "the mean of all layers, shape [T, 2P]",
}

_TOKENIZED = ("tokens", "text", "json")


@Subcommand.register("elmo")
class Elmo(Subcommand):
    """`allennlp elmo IN OUT`."""

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        """Called by AllenNLP."""
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=_DESCRIPTION, help="Write the ELMo vectors of a text into an HDF5 file."
        )
        subparser.add_argument("input_file", metavar="IN", help="UTF-8 text, a sentence a line; gzip; - reads a pipe")
        subparser.add_argument("output_file", metavar="OUT", help="HDF5 file; OUT.part until it is finished")
        _add_what(subparser)
        _add_how(subparser)
        subparser.set_defaults(func=run)
        return subparser


def _add_what(parser: argparse.ArgumentParser) -> None:
    outputs = parser.add_mutually_exclusive_group()
    for output in OUTPUTS:
        outputs.add_argument(
            f"--{output}", action="store_const", const=output, dest="output", default="all", help=_HELP[output]
        )
    parser.add_argument("--float16", action="store_true", help="half the size, values rounded to 11 bits")
    parser.add_argument(
        "--input-format",
        choices=_TOKENIZED,
        default="tokens",
        help="a line is tokens between white space (default), raw text for spaCy's rules, or a JSON list of tokens",
    )
    parser.add_argument("--options-file", metavar="FILE", help="the biLM's options, path or URL (default: embedded)")
    parser.add_argument("--weight-file", metavar="FILE", help="the biLM's weights, path or URL (default: embedded)")
    parser.add_argument(
        "--precision", choices=PRECISIONS, default="float32", help="of the matrix products: float32 (default), bfloat16"
    )
    parser.add_argument(
        "--max-length", type=int, default=512, metavar="N", help="longer lines are cut into windows of N tokens (512)"
    )
    parser.add_argument("--overlap", type=int, default=128, metavar="N", help="tokens that windows share (128)")


def _add_how(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--batch-size", type=int, default=64, metavar="B", help="sentences of a batch at most (64)")
    parser.add_argument("--max-tokens", type=int, default=4096, metavar="N", help="tokens of a batch at most (4096)")
    parser.add_argument("--cuda-device", type=int, default=_CPU, metavar="N", help="GPU; -1 is the CPU (default)")
    parser.add_argument("--force", action="store_true", help="remove OUT and OUT.part first")


def run(args: argparse.Namespace) -> None:
    """Runs `extract`, and tells how far it is."""
    input_file = _STANDARD_INPUT if args.input_file == "-" else args.input_file
    require_place(args.output_file, read=(input_file, args.options_file, args.weight_file))
    bilm, source = _bilm(args)
    extraction = Extraction(
        bilm=bilm,
        settings={
            "input": args.input_file,
            "tokenizer": _tokenizer_name(args.input_format),
            **_described(source, bilm),
        },
        parse=_parser(args.input_format),
        output=args.output,
        float16=args.float16,
        max_length=args.max_length,
        overlap=args.overlap,
        batch_size=args.batch_size,
        max_tokens=args.max_tokens,
    )
    teller = _Teller(args)
    extract(
        extraction,
        open_text(input_file, longest=None),
        args.output_file,
        force=args.force,
        begun=teller.begun,
        report=teller.report,
    )
    teller.finished()


def _bilm(args: argparse.Namespace) -> tuple[BiLM, Source]:
    gpus = torch.cuda.device_count()
    if not _CPU <= args.cuda_device < gpus:
        raise InputError(f"--cuda-device {args.cuda_device}: there are {gpus} GPUs, counted from 0; {_CPU} is the CPU")
    bilm, source = open_bilm(*bilm_files(args.options_file, args.weight_file), precision=args.precision)
    return bilm if args.cuda_device == _CPU else bilm.to(f"cuda:{args.cuda_device}"), source


def _described(source: Source, bilm: BiLM) -> dict[str, str | int]:
    return {
        "options": json.dumps(bilm.options.to_dict()),
        "options_sha256": source.options_file.sha256,
        "weights_sha256": source.weight_file.sha256,
        "options_file": source.options_file.path,
        "weight_file": source.weight_file.path,
    }


def _tokenizer_name(input_format: str) -> str:
    return {"tokens": "white space", "text": f"spaCy {spacy.__version__}, blank English", "json": "JSON"}[input_format]


def _parser(input_format: str) -> Callable[[str], list[str]]:
    if input_format == "text":
        tokenizer = BlankSpacyTokenizer()
        return lambda line: [token.ensure_text() for token in tokenizer.tokenize(line)]
    return tokens_of_json if input_format == "json" else str.split


def tokens_of_json(line: str) -> list[str]:
    """
    The tokens of a line `["the", "words"]` or `{"tokens": ["the", "words"]}`; none of a blank line or an empty list.

    # Raises

    `InputError` where it is neither.
    """
    if not line.strip():
        return []
    try:
        found = loaded(line)
    except NOT_JSON as error:
        raise InputError(f"a JSON list of tokens was wanted, found {shown(line)}: {json_problem(error)}") from None
    if isinstance(found, dict) and "tokens" in found:
        found = found["tokens"]
    return [] if found == [] else words_of(found, "the line's value")


class _Teller:
    """Prints what a long run does."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._out, self._limit = args.output_file, args.max_length
        self._begun = False
        self._last: Progress | None = None
        self._told = time.monotonic()

    def begun(self, counts: Mapping[str, int]) -> None:
        self._begun = True
        print(f"{counts['sentences']:,} sentences, {counts['tokens']:,} tokens")
        if counts["blank_lines"]:
            print(f"{counts['blank_lines']:,} lines have no token: their datasets are empty, line numbers stay")
        if counts["long_lines"]:
            print(
                f"{counts['long_lines']:,} lines of more than {self._limit:,} tokens are cut into overlapping windows"
            )

    def report(self, progress: Progress) -> None:
        if self._last is None and progress.tokens > progress.fresh_tokens:
            before = progress.tokens - progress.fresh_tokens
            print(f"going on: {before:,} of {progress.all_tokens:,} tokens were there", flush=True)
        self._last = progress
        if time.monotonic() - self._told > _SECONDS_BETWEEN_LINES:
            self._told = time.monotonic()
            print(_line(progress), flush=True)

    def finished(self) -> None:
        size = Path(self._out).stat().st_size
        speed = f", {_speed(self._last):,.0f} tokens/s" if self._last else ""
        print(f"{self._out}: {size:,} bytes{speed}" if self._begun else f"{self._out} was finished already")


def _line(progress: Progress) -> str:
    left = timedelta(seconds=round((progress.all_tokens - progress.tokens) / _speed(progress)))
    share = progress.tokens / progress.all_tokens
    done = f"{progress.tokens:,} of {progress.all_tokens:,} tokens ({share:.0%})"
    return f"{done}, {_speed(progress):,.0f} tokens/s, {left} left"


def _speed(progress: Progress) -> float:
    """Tokens of this call a second."""
    return progress.fresh_tokens / max(progress.seconds, 1e-9)
