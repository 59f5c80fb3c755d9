"""The entity types of NER data: whether they are entities, and whether the splits share them."""

from collections.abc import Iterator, Mapping
from typing import Any

from allennlp.data import DatasetReader

from elmo_tasks.checks.files import DATA_PATHS
from elmo_tasks.checks.problem import Problem
from elmo_tasks.ner.entity_types import TypeCounts, count_types, other_annotation, unknown_types
from elmo_tasks.ner.reader import NerReader

DISJOINT, FOREIGN = "disjoint", "foreign"
"""Kinds of problems: no entity at all, or none of a type of the training data; suspicious types."""

LAST_COLUMN = "entity types in the last column (is it missing? `tag_label: 'chunk'` reads the chunks of column 3)"


def entity_type_problems(config: Mapping[str, Any]) -> Iterator[Problem]:
    """
    Problems of data that `NerReader` reads: no entity at all, types that are chunks or parts of speech, and types of
    the validation or test data that the training data do not have. Files that cannot be read are skipped.
    """
    counts = {path: counted for path in DATA_PATHS if (counted := _types(config, path)) is not None}
    for path, (tag_label, types) in counts.items():
        if not types.counts:
            yield Problem(path=path, expected=LAST_COLUMN, got=f"{types}", kind=DISJOINT)
        elif tag_label == "ner" and (annotation := other_annotation(types.counts.keys())):
            yield Problem(path=path, expected=LAST_COLUMN, got=f"{annotation}: {types}", kind=FOREIGN)
    train, *others = DATA_PATHS
    for path in others:
        if path in counts and train in counts and counts[train][1].counts:
            yield from _compared(path, counts[path][1], counts[train][1])


def _types(config: Mapping[str, Any], path: str) -> tuple[str, TypeCounts] | None:
    """The `tag_label` and the types of a file; `None` if it is not read by `NerReader`, or cannot be."""
    reader, file = config.get("dataset_reader"), config.get(path)
    if path != DATA_PATHS[0]:
        reader = config.get("validation_dataset_reader") or reader
    reader = {"type": reader} if isinstance(reader, str) else reader
    if not isinstance(reader, Mapping) or not isinstance(file, str) or not _is_ner(reader.get("type")):
        return None
    tag_label = reader.get("tag_label", "ner")
    try:
        return tag_label, count_types(file, tag_label=tag_label)
    except (ValueError, KeyError, TypeError):  # reported by other checks, or when the data are read
        return None


def _is_ner(name: Any) -> bool:
    return name in DatasetReader.list_available() and issubclass(DatasetReader.resolve_class_name(name)[0], NerReader)


def _compared(path: str, types: TypeCounts, training: TypeCounts) -> Iterator[Problem]:
    unknown = unknown_types(types.counts, training.counts.keys())
    expected = f"types of the training data, {training}"
    if unknown and types.counts.keys().isdisjoint(training.counts):
        yield Problem(path=path, expected=expected, got=f"only {types}", kind=DISJOINT)
    elif unknown:
        yield Problem(path=path, expected=expected, got=f"also {unknown} in {types.file}", kind=FOREIGN)
