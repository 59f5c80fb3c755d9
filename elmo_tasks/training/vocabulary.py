"""A saved vocabulary in the class of the run's config."""

import json
import os
from pathlib import Path
from typing import Union

from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN, DEFAULT_PADDING_TOKEN
from allennlp.models.archival import CONFIG_NAME


@Vocabulary.register("from_files", constructor="from_files", exist_ok=True)
class SavedVocabulary(Vocabulary):
    """
    AllenNLP's `from_files`, which makes a vocabulary of the class in the config beside the folder, else a `Vocabulary`.

    The workers of a distributed training load the run's vocabulary with it, whose class AllenNLP loses.
    """

    @classmethod
    def from_files(
        cls,
        directory: Union[str, os.PathLike[str]],
        padding_token: str = DEFAULT_PADDING_TOKEN,
        oov_token: str = DEFAULT_OOV_TOKEN,
    ) -> Vocabulary:
        loaded: Vocabulary = _configured_class(directory).from_files(
            directory, padding_token, oov_token
        )
        return loaded


def _configured_class(directory: str | os.PathLike[str]) -> type[Vocabulary]:
    try:
        config = json.loads((Path(directory).parent / CONFIG_NAME).read_text("utf-8"))
        given = config["vocabulary"]
        found = Vocabulary.resolve_class_name(
            given if isinstance(given, str) else given["type"]
        )[0]
    except (OSError, ValueError, KeyError, TypeError, ConfigurationError):
        return Vocabulary
    return Vocabulary if found is SavedVocabulary else found
