"""The vocabulary of a run, in the class that its configuration names."""

import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import archival


def configured_class(directory: str | os.PathLike[str]) -> type[Vocabulary]:
    """The class that the configuration beside a vocabulary's folder names, AllenNLP's own where there is none."""
    try:
        config = json.loads((Path(directory).parent / archival.CONFIG_NAME).read_text("utf-8"))
        given = config["vocabulary"]
        found: tuple[type[Vocabulary], Any] = Vocabulary.resolve_class_name(
            given if isinstance(given, str) else given["type"]
        )
    except (OSError, ValueError, KeyError, TypeError, ConfigurationError):
        return Vocabulary
    return found[0]


def in_its_class(load: Callable[..., Vocabulary]) -> Callable[..., Vocabulary]:
    """`Vocabulary.from_files` that gives the vocabulary of a run the class of its configuration."""

    @functools.wraps(load)
    def from_files(
        cls: type[Vocabulary], directory: str | os.PathLike[str], *arguments: Any, **options: Any
    ) -> Vocabulary:
        wanted = configured_class(directory) if cls is Vocabulary else cls
        if wanted is cls:
            return load(cls, directory, *arguments, **options)
        return wanted.from_files(directory, *arguments, **options)

    return from_files


def load_in_configured_class() -> None:
    """
    Lets a configuration with a vocabulary of another class be trained by several processes.

    AllenNLP loads an archive's vocabulary in the class that its configuration names, but the workers of a distributed
    training, and its `--recover`, as a plain `Vocabulary`. It can go when AllenNLP does the same in both.
    """
    if hasattr(Vocabulary.from_files, "__wrapped__"):
        return
    Vocabulary.from_files = classmethod(in_its_class(Vocabulary.from_files.__func__))
