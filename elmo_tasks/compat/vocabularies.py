"""A patch of `allennlp.data.Vocabulary`: the class of a saved vocabulary."""

import functools
import json
import os
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import archival


def load_in_configured_class() -> None:
    """
    Lets several processes train a config whose vocabulary has another class than `Vocabulary`.

    AllenNLP loads an archive's vocabulary in the class of the config, but in the workers of a distributed training, and
    with its `--recover`, as a plain `Vocabulary`. The patch can go when AllenNLP does the same in all cases.
    """
    load = Vocabulary.from_files.__func__

    @functools.wraps(load)
    def from_files(cls: Any, directory: str | os.PathLike[str], *arguments: Any, **options: Any) -> Vocabulary:
        configured = _configured_class(directory) if cls is Vocabulary else cls
        if configured is cls:
            return load(cls, directory, *arguments, **options)
        return configured.from_files(directory, *arguments, **options)

    Vocabulary.from_files = classmethod(from_files)


def _configured_class(directory: str | os.PathLike[str]) -> type[Vocabulary]:
    """The class in the config beside a vocabulary's folder, or `Vocabulary`."""
    try:
        config = json.loads((Path(directory).parent / archival.CONFIG_NAME).read_text("utf-8"))
        given = config["vocabulary"]
        return Vocabulary.resolve_class_name(given if isinstance(given, str) else given["type"])[0]
    except (OSError, ValueError, KeyError, TypeError, ConfigurationError):
        return Vocabulary
