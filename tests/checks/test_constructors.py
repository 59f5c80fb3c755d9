"""
Constructors of registered classes: their smallest valid values make an object, and
arguments that do not go together are an error.
"""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, NamedTuple, get_args

import pytest
from allennlp.common import Params
from pydantic.fields import FieldInfo

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Settings, annotations, wrong_values
from elmo_tasks.training.metrics import metric_of
from elmo_tasks.training.parts import constructing
from tests.package import Constructor, registered

CONSTRUCTORS = sorted(registered(), key=lambda one: (one.base.__name__, one.name))


def numbers(annotation: Any) -> list[FieldInfo]:
    """The ranges in an annotation."""
    found = [part for part in get_args(annotation) if isinstance(part, FieldInfo)]
    for part in get_args(annotation):
        found += numbers(part)
    return found


def filled(call: Any, key: str) -> dict[str, Any]:
    """Arguments for everything else that a constructor requires."""
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(call).parameters.items():
        is_variable = parameter.kind in (
            parameter.VAR_KEYWORD,
            parameter.VAR_POSITIONAL,
        )
        if name != key and parameter.default is parameter.empty and not is_variable:
            found[name] = valid(parameter.annotation)
    return found


def valid(annotation: Any) -> Any:
    for value in (1, 0.5, "x", [1], [0.5], {"lstm": {}}):
        if not wrong_values("", annotation, value):
            return value
    if inspect.isclass(annotation):
        return object.__new__(annotation)
    return None


MODULES = ("Seq2SeqEncoder", "Seq2VecEncoder", "Head", "BatchSampler")


@pytest.mark.parametrize(
    "one",
    [one for one in CONSTRUCTORS if one.base.__name__ in MODULES],
    ids=lambda one: one.name,
)
def test_the_smallest_valid_values_make_an_object(one: Constructor) -> None:
    arguments = {}
    for key, parameter in one.arguments().items():
        if numbers(parameter.annotation):
            arguments[key] = least(parameter.annotation)
    config = {"type": one.name, **arguments, **filled(one.call, "")}
    assert isinstance(one.base.from_params(Params(config)), one.base)


def least(annotation: Any) -> Any:
    for value in (-1, 0, 1, 0.5, 2, [0], [1], [0.5]):
        if not wrong_values("", annotation, value):
            return value
    return None


def test_every_dataclass_with_a_range_checks_it() -> None:
    unchecked = set()
    for cls in dataclasses_of_the_package():
        ranges = [numbers(one) for one in annotations(cls).values()]
        if any(ranges) and not issubclass(cls, Settings):
            unchecked.add(cls.__name__)
    assert unchecked == set()


def dataclasses_of_the_package() -> Iterator[type]:
    for name, module in list(sys.modules.items()):
        if name.startswith("elmo_tasks."):
            for one in vars(module).values():
                is_its = getattr(one, "__module__", None) == name
                if is_its and inspect.isclass(one) and is_dataclass(one):
                    yield one


class Together(NamedTuple):
    """Arguments of a registered class, valid one by one, of which `key` is wrong."""

    base: str
    name: str
    arguments: dict[str, Any]
    key: str


NOT_TOGETHER = [
    Together("Head", "elmo_tasks_relu", {"hidden_sizes": [3, 3], "dropout": [0.1]}, "dropout"),
    Together("Head", "elmo_tasks_maxout", {"hidden_sizes": [3], "dropout": []}, "dropout"),
    Together("Model", "elmo_tasks_tagger", {"legal": True, "spans": True}, "legal"),
    Together("Model", "elmo_tasks_tagger", {"legal": True, "crf": True}, "legal"),
    Together("DatasetReader", "elmo_tasks_tagger", {"spans": True}, "tag"),
    Together("DatasetReader", "elmo_tasks_tagger", {"comments": True}, "tag"),
    Together("Vocabulary", "elmo_tasks_words", {}, "files"),
    Together("Vocabulary", "elmo_tasks_words", {"files": "x", "file": "x"}, "files"),
    Together("Vocabulary", "elmo_tasks_words", {"file": "x", "size": 3}, "file"),
    Together("Vocabulary", "elmo_tasks_words", {"file": "x", "min_count": 3}, "file"),
    Together("DataLoader", "elmo_tasks_lm", {"max_tokens": 3}, "max_tokens"),
    Together("DataLoader", "elmo_tasks_lm", {"shuffle": False, "steps_per_epoch": 3}, "steps_per_epoch"),
]  # fmt: skip
"""Each pair of arguments that a constructor does not take together."""


def constructor(case: Together) -> Constructor:
    """The constructor of a case."""
    (found,) = [
        one
        for one in CONSTRUCTORS
        if (one.base.__name__, one.name) == (case.base, case.name)
    ]
    return found


@pytest.mark.parametrize(
    "case", NOT_TOGETHER, ids=lambda case: f"{case.name}-{'-'.join(case.arguments)}"
)
def test_arguments_that_do_not_go_together(case: Together) -> None:
    one = constructor(case)
    arguments = {**filled(one.call, ""), **case.arguments}
    with pytest.raises(InputError, match=rf"{case.key}: expected .*, got"):
        one.call(**arguments)


def test_an_error_in_the_data_needs_no_key() -> None:
    with pytest.raises(InputError) as raised, constructing("dataset_reader", data="a"):
        raise InputError("expected two columns", file="a", line=3)
    assert str(raised.value) == "a:3: expected two columns"
    with pytest.raises(InputError) as raised, constructing("dataset_reader", data="a"):
        raise InputError("expected a vector", file="b", line=3)
    assert str(raised.value) == "dataset_reader: b:3: expected a vector"


@pytest.mark.parametrize("name", ["loss", "perplexity", "perplexity_before"])
def test_scores_of_which_less_is_better(name: str) -> None:
    assert not metric_of(name).higher_is_better
    assert metric_of("accuracy").higher_is_better
