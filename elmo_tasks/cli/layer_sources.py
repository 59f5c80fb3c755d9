"""
The options of commands that read the layers of a frozen source: a biLM, a transformer
or ELMoForManyLangs.
"""

import argparse
from typing import TYPE_CHECKING, Any

from elmo_tasks.cli.arguments import location
from elmo_tasks.errors import needs
from elmo_tasks.option_values import MODEL_FORMS, Pieces
from elmo_tasks.settings import choices, meaning

if TYPE_CHECKING:
    from elmo_tasks.elmo.layers import Layers

_KEYS = ("model", "pieces")
"""The keys of `model.elmo` that are options."""

MODEL_HELP = (
    f"the model: {MODEL_FORMS} (default: bundled); `elmo-tasks models` lists the names"
)


def add_source_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `open_chosen` reads: keys of `SourceSettings`."""
    parser.add_argument("--model", type=location, help=MODEL_HELP)
    parser.add_argument("--pieces", help=meaning(Pieces), choices=choices(Pieces))


def open_chosen(args: argparse.Namespace, *, precision: str = "float32") -> "Layers":
    """
    The layers of the source that the options name, on their device. Raises `InputError`
    if the options do not go together, a file is invalid, or there is no such device.
    """
    from elmo_tasks.elmo.devices import opened_device
    from elmo_tasks.elmo.layers import Layers
    from elmo_tasks.elmo.sources.types import SourceSettings

    device = opened_device(args.device)
    given: dict[str, Any] = {"precision": precision}
    for key in _KEYS:
        value = getattr(args, key)
        if value is not None:
            given[key] = value
    with needs("'elmo-tasks[transformers]'"):
        layers = Layers.open(SourceSettings.of(given))
    return layers.to(device)
