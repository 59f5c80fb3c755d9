"""`elmo-tasks models`: list the published ELMo models."""

import argparse

from elmo_tasks.errors import InputError
from elmo_tasks.formats.models import MODELS, PublishedModel

DESCRIPTION = (
    "List the models that every option and setting for a biLM, and Elmo.from_pretrained, accept by name."
    " They are downloaded once; the addresses are their publishers'."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `elmo-tasks models [TEXT]`."""
    parser.add_argument(
        "text",
        metavar="TEXT",
        nargs="?",
        default="",
        help="only names and languages with this text",
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> None:
    """Print a line per model, with its parameters in millions where they are known."""
    text = args.text.lower()
    found: dict[str, PublishedModel] = {}
    for name, model in MODELS.items():
        if text in f"{name} {model.language}".lower():
            found[name] = model
    if not found:
        raise InputError(
            f"expected a part of a model's name or language, got {args.text!r}",
            hint="elmo-tasks models",
        )
    for name, model in found.items():
        size = "-"
        if model.millions is not None:
            size = f"{model.millions} M"
        print(
            f"{name:<30} {model.language:<20} {size:>7}  {model.text:<46} {model.files[-1]}"
        )
