"""`elmo-tasks models`: list and download the published ELMo models."""

import argparse

from elmo_tasks.errors import InputError

DESCRIPTION = (
    "List the models that --model, Elmo.from_pretrained and the key `model.elmo.model`"
    " of a config accept by name, or download one. The first comes with the"
    " package; the others are downloaded once, from their publishers."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks models [TEXT]`."""
    parser.add_argument(
        "text",
        metavar="TEXT",
        nargs="?",
        default="",
        help="list only models with this text in their name, language or domain; of a single one print all",
    )
    parser.add_argument(
        "--download",
        metavar="NAME",
        help="download a model now",
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> None:
    """List the models, or download one."""
    from elmo_tasks.cli.running.model_list import download, print_models

    if args.download is None:
        print_models(args.text)
    elif args.text:
        raise InputError(f"expected no text with --download, got {args.text!r}")
    else:
        download(args.download)
