"""`elmo-tasks models`: list and download the published ELMo models."""

import argparse

from elmo_tasks.cli.arguments import add_download_limit, add_json
from elmo_tasks.errors import InputError

DESCRIPTION = (
    "List the models that --model, Elmo.from_pretrained and the key `model.elmo.model`"
    " of a config accept by name; download one. The first comes with the"
    " package; the others are downloaded once, from their publishers."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks models [TEXT]`."""
    parser.add_argument(
        "text",
        metavar="TEXT",
        nargs="?",
        default="",
        help="list only models with this text in their name, language or domain",
    )
    parser.add_argument("--download", metavar="NAME", help="download a model now")
    add_json(parser)
    add_download_limit(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> None:
    """List the models, or do what the options say with one of them."""
    from elmo_tasks.cli.running.model_list import download, print_models

    if args.text and args.download:
        raise InputError(f"expected no text with --download, got {args.text!r}")
    if args.download is not None:
        download(args.download, as_json=args.json)
    else:
        print_models(args.text, as_json=args.json)
