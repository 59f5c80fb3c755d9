"""
A saved vocabulary in the class of the run's config; the labels of a trained model, and
new data with others, which it cannot learn.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional, Union

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import namespace_match
from allennlp.data import DataLoader, Vocabulary
from allennlp.data.fields import LabelField, SequenceLabelField
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN, DEFAULT_PADDING_TOKEN
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.system.run_names import CONFIG
from elmo_tasks.training.distributed import all_gather_objects
from elmo_tasks.training.folder import has_checkpoint


@Vocabulary.register("from_files", constructor="from_files", exist_ok=True)
class SavedVocabulary(Vocabulary):
    """
    AllenNLP's `from_files`. If a run's config lies next to the folder, the vocabulary
    is of the class that the config names. A run that is resumed does not write again
    what it has read.

    # Parameters

    - `directory`: the folder of a saved vocabulary.
    - `padding_token`: the padding token of the vocabulary.
    - `oov_token`: the token of unknown words.

    The workers of a distributed training load the run's vocabulary with it, whose class
    AllenNLP loses, and so does a run that is resumed.
    """

    _resumed: Path | None = None
    """The folder of the vocabulary, if it is of a run that has a checkpoint."""

    @classmethod
    @overrides
    def from_files(
        cls,
        directory: Union[str, os.PathLike],
        padding_token: Optional[str] = DEFAULT_PADDING_TOKEN,
        oov_token: Optional[str] = DEFAULT_OOV_TOKEN,
    ) -> Vocabulary:
        """A saved vocabulary."""
        found = _configured_class(directory)
        if found is not Vocabulary:
            other: Vocabulary = found.from_files(directory, padding_token, oov_token)
            return other
        loaded = super().from_files(directory, padding_token, oov_token)
        if has_checkpoint(Path(directory).parent):
            loaded._resumed = Path(directory).absolute()
        return loaded

    @overrides
    def save_to_files(self, directory: str) -> None:
        """
        AllenNLP's. It is also called when a run is resumed, whose files are complete:
        they stay as they are.
        """
        if self._resumed != Path(directory).absolute():
            super().save_to_files(directory)


def _configured_class(directory: str | os.PathLike[str]) -> type[Vocabulary]:
    """
    The class of the vocabulary in the config beside its folder; `Vocabulary` if that
    tells no other.
    """
    try:
        config = json.loads((Path(directory).parent / CONFIG).read_text("utf-8"))
        name = config["vocabulary"]
        if not isinstance(name, str):
            name = name["type"]
        found, _ = Vocabulary.resolve_class_name(name)
    except (OSError, ValueError, KeyError, TypeError, ConfigurationError):
        return Vocabulary
    if found is SavedVocabulary:
        return Vocabulary
    return found


def label_counts(vocab: Vocabulary) -> dict[str, int]:
    """The number of labels in each namespace of labels."""
    counts = {}
    for namespace in vocab.get_namespaces():
        for pattern in vocab._non_padded_namespaces:
            if namespace_match(pattern, namespace):
                counts[namespace] = vocab.get_vocab_size(namespace)
    return counts


def require_no_new_labels(vocab: Vocabulary, counts: Mapping[str, int]) -> None:
    """
    Raises `InputError` if a vocabulary has more labels than a model was made for.
    """
    for namespace, count in counts.items():
        new = list(vocab.get_token_to_index_vocabulary(namespace))[count:]
        if new:
            problem = f"the data have {namespace} that the trained model does not have"
            hint = "it cannot predict them: remove them, or train a new model"
            raise InputError(f"{problem}: {', '.join(new[:10])}", hint=hint)


def labels_of(loader: DataLoader | None) -> set[Any]:
    """The labels of a loader's instances, those of all processes; none without one."""
    if loader is None:
        return set()
    found: set[Any] = set()
    for instance in loader.iter_instances():
        for field in instance.fields.values():
            if isinstance(field, LabelField):
                found.add(field.label)
            elif isinstance(field, SequenceLabelField):
                found.update(field.labels)
    return set().union(*all_gather_objects(found))
