"""The entity types of NER data: whether they are entities, and whether training and validation data share them."""

from collections.abc import Iterator, Mapping
from typing import Any

from allennlp.data import DatasetReader

from elmo_tasks.checks.files import DATA_PATHS
from elmo_tasks.checks.problem import Problem
from elmo_tasks.ner.entity_types import TypeCounts, count_types, other_annotation, unknown_types
from elmo_tasks.ner.reader import NerReader

DISJOINT, FOREIGN = "disjoint", "foreign"
"""The kinds of these problems: no entity, or none of a type of the training data; some types are suspicious."""

LAST_COLUMN = "entity types in the last column (is it cut off? `tag_label: 'chunk'` reads the chunks of column 3)"


def entity_type_problems(config: Mapping[str, Any]) -> Iterator[Problem]:
    """
    The problems of the data that `NerReader` reads: no entity at all, types that are chunks or parts of speech, and
    types of the validation or test data that the training data lack. Files that cannot be read are passed over.
    """
    found = {path: read for path in DATA_PATHS if (read := _types(config, path)) is not None}
    for path, (tag_label, types) in found.items():
        if not types.counts:
            yield Problem(path=path, wanted=LAST_COLUMN, found=f"{types}", kind=DISJOINT)
        elif tag_label == "ner" and (annotation := other_annotation(types.counts.keys())):
            yield Problem(path=path, wanted=LAST_COLUMN, found=f"{annotation}: {types}", kind=FOREIGN)
    train, *others = DATA_PATHS
    for path in others:
        if path in found and train in found and found[train][1].counts:
            yield from _compared(path, found[path][1], found[train][1])


def _types(config: Mapping[str, Any], path: str) -> tuple[str, TypeCounts] | None:
    """What is read, and its types; None where `NerReader` does not read it, or cannot."""
    reader, file = config.get("dataset_reader"), config.get(path)
    if path != DATA_PATHS[0]:
        reader = config.get("validation_dataset_reader") or reader
    reader = {"type": reader} if isinstance(reader, str) else reader
    if not isinstance(reader, Mapping) or not isinstance(file, str) or not _is_ner(reader.get("type")):
        return None
    tag_label = reader.get("tag_label", "ner")
    try:
        return tag_label, count_types(file, tag_label=tag_label)
    except (ValueError, KeyError, TypeError):  # whoever reads the data, or looks at the config's keys, reports it
        return None


def _is_ner(name: Any) -> bool:
    return name in DatasetReader.list_available() and issubclass(DatasetReader.resolve_class_name(name)[0], NerReader)


def _compared(path: str, types: TypeCounts, training: TypeCounts) -> Iterator[Problem]:
    unknown = unknown_types(types.counts, training.counts.keys())
    wanted = f"types of the training data, {training}"
    if unknown and types.counts.keys().isdisjoint(training.counts):
        yield Problem(path=path, wanted=wanted, found=f"none of them, but {types}", kind=DISJOINT)
    elif unknown:
        yield Problem(path=path, wanted=wanted, found=f"besides {unknown} in {types.file}", kind=FOREIGN)
