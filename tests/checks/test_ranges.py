"""Every number of every constructor has a range, which the construction applies."""

import importlib
import inspect
import math
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import pytest
from allennlp.common import Params, Registrable
from allennlp.training import Trainer

import elmo_tasks
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.settings import (
    Range,
    Settings,
    annotations,
    expected,
    has_range,
    wrong_in,
)
from elmo_tasks.training.checks.blame import parameters_of

FREE = {
    "archive_file",
    "batch_weight_key",
    "cache_dir",
    "column",
    "datasets_for_vocab_creation",
    "directory",
    "fields",
    "file",
    "files",
    "layers",
    "lookup_file",
    "model",
    "namespace",
    "no_grad",
    "oov_token",
    "padding_token",
    "pretrained_file",
    "bilm",
    "cuda_device",
    "options_file",
    "serialization_dir",
    "sorting_key",
    "vocab_namespace",
    "weight_file",
}
"""Arguments that take any text: names of files, columns and namespaces."""


class Constructor(NamedTuple):
    """What a registered name stands for; `call` makes the object."""

    base: type
    name: str
    cls: Any
    call: Any

    def arguments(self) -> dict[str, inspect.Parameter]:
        """Those that this package annotates."""
        functions = [vars(base).get("__init__") for base in reversed(self.cls.__mro__)]
        inspected = self.cls.__init__
        if inspect.ismethod(self.call):
            inspected = self.call
            functions.append(self.call)
        own: dict[str, inspect.Parameter] = {}
        for function in functions:
            if str(getattr(function, "__module__", "")).startswith("elmo_tasks."):
                own |= inspect.signature(function).parameters
        taken = parameters_of(self.cls, inspected)
        return {name: own[name] for name in taken if name in own}


def registered() -> Iterator[Constructor]:
    for base, entries in Registrable._registry.items():
        for name, (cls, method) in entries.items():
            if str(getattr(cls, "__module__", "")).startswith("elmo_tasks."):
                call = cls if method is None else getattr(cls, method)
                yield Constructor(base, name, cls, call)


CONSTRUCTORS = sorted(registered(), key=lambda one: (one.base.__name__, one.name))


def settings(base: type = Settings) -> Iterator[type[Settings]]:
    for cls in base.__subclasses__():
        if cls.__module__.startswith("elmo_tasks."):
            yield cls
            yield from settings(cls)


def bare(annotation: Any, name: str) -> bool:
    """Whether a type, or a part of it, lets in more values than are valid."""
    if get_origin(annotation) is Annotated:
        return not has_range(annotation) and bare(get_args(annotation)[0], name)
    if get_origin(annotation) is Literal:
        return False
    if get_origin(annotation) is dict:
        part = get_args(annotation)[1]
        return part is Any or bare(part, name)
    if annotation is str:
        return name not in FREE
    if annotation in (int, float):
        return True
    return any(bare(part, name) for part in get_args(annotation))


@pytest.mark.parametrize("one", CONSTRUCTORS, ids=lambda one: one.name)
def test_no_argument_is_bare(one: Constructor) -> None:
    found = one.arguments()
    found.pop("parameters", None)  # of an optimizer, which the trainer passes
    if issubclass(one.base, Trainer):
        found.pop("cuda_device", None)  # compared with the devices of this machine
    assert [name for name in found if bare(found[name].annotation, name)] == []


PATHS = {
    *("cache_dir", "file", "files", "lookup_file", "model", "options_file"),
    *("pretrained_file", "weight_file"),
}
"""Arguments that are paths, URLs or names of models."""


@pytest.mark.parametrize("one", CONSTRUCTORS, ids=lambda one: one.name)
def test_no_path_is_empty(one: Constructor) -> None:
    found = one.arguments()
    if one.name == "elmo_tasks_tuned_bilm":
        found["model"] = found["bilm"]
    for name in PATHS & found.keys():
        annotation = found[name].annotation
        is_class = isinstance(annotation, type) and annotation is not str
        if not is_class:  # such as the model of a trainer
            assert expected(annotation, "") is not None, name


def test_no_field_of_settings_is_bare() -> None:
    found = []
    for cls in settings():
        for name, annotation in annotations(cls).items():
            if bare(annotation, name):
                found.append(f"{cls.__name__}.{name}")
    assert found == []


class Case(NamedTuple):
    """An argument with a range, and the class whose constructor is ours."""

    cls: Any
    call: Any
    key: str
    annotation: Any


def numbers(annotation: Any) -> list[Range]:
    """The ranges in an annotation."""
    found = [part for part in get_args(annotation) if isinstance(part, Range)]
    for part in get_args(annotation):
        found += numbers(part)
    return found


def outside(annotation: Any) -> list[Any]:
    """Values of the right and of wrong kinds that are in no range of this type."""
    values: list[Any] = [math.nan, math.inf, -math.inf, 10**400, -(10**400), True, "5"]
    values += [{}, object]
    for limits in numbers(annotation):
        for limit in (limits.at_least - 1, limits.above, limits.below):
            values.append(int(limit) if math.isfinite(limit) else limit)
        values.append(int(limits.at_most * 2))
    kinds = [get_origin(kind) for kind in get_args(annotation)]
    if get_origin(annotation) is Union and list in kinds:
        values.append([math.nan])
    if get_origin(annotation) is list:
        values = [[value] for value in values]
    return [value for value in values if expected(annotation, value) is not None]


def own_cases() -> Iterator[Case]:
    """The numeric arguments of our constructors, each where it is written."""
    calls: dict[str, tuple[Any, Any]] = {}
    for one in [*CONSTRUCTORS, Constructor(object, "", InputEncoder, InputEncoder)]:
        if inspect.ismethod(one.call):
            calls[one.call.__qualname__] = (one.cls, one.call)
        for base in one.cls.__mro__:
            if base.__module__.startswith("elmo_tasks.") and "__init__" in vars(base):
                calls[base.__qualname__] = (base, base)
    for cls, call in calls.values():
        for key, parameter in inspect.signature(call).parameters.items():
            if numbers(parameter.annotation):
                yield Case(cls, call, key, parameter.annotation)


CASES = list(own_cases())


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
        if expected(annotation, value) is None:
            return value
    return None


def test_there_are_cases() -> None:
    assert len(CASES) > 60


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.cls.__name__}.{case.key}"
)
def test_construction_rejects_what_is_out_of_range(case: Case) -> None:
    values = outside(case.annotation)
    assert len(values) > 8
    for value in values:
        arguments = {**filled(case.call, case.key), case.key: value}
        with pytest.raises(
            InputError, match=f"{case.key}.*: expected .*, got"
        ) as raised:
            case.call(**arguments)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("cls", list(settings()), ids=lambda cls: cls.__name__)
def test_settings(cls: type[Settings]) -> None:
    for field in fields(cls):  # type: ignore[arg-type]
        annotation = annotations(cls)[field.name]
        if not numbers(annotation):
            continue
        for value in outside(annotation):
            problem = wrong_in(cls, {field.name: value})[0]
            assert problem.key.startswith(field.name), value


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
        if expected(annotation, value) is None:
            return value
    return None


ELSEWHERE = (
    "sentence_embedder.Elmo.",
    "layer_choice.LayerChoices.",
)
"""Checked by the objects that the methods make (the next test)."""


def functions() -> Iterator[tuple[str, Any]]:
    """Functions, constructors and methods, but not those that dataclasses have."""
    for module in pkgutil.walk_packages(elmo_tasks.__path__, "elmo_tasks."):
        if ".integrations." in module.name or ".torchvision_stub" in module.name:
            continue  # adapters of packages that need not be installed
        short = module.name.rpartition(".")[2]
        for name, one in vars(importlib.import_module(module.name)).items():
            if getattr(one, "__module__", None) != module.name:
                continue
            if inspect.isfunction(one):
                yield f"{short}.{name}", one
            if inspect.isclass(one):
                for key, method in vars(one).items():
                    function = getattr(method, "__func__", method)
                    made = is_dataclass(one) and key == "__init__"
                    if inspect.isfunction(function) and not made:
                        yield f"{short}.{name}.{key}", function


def is_checked(function: Any) -> bool:
    while hasattr(function, "__wrapped__"):
        if function.__code__.co_qualname == "checked.<locals>.construct":
            return True
        function = function.__wrapped__
    return False


def test_every_function_with_a_range_checks_it() -> None:
    unchecked = set()
    for name, function in functions():
        signature = inspect.signature(function)
        ranges = [has_range(one.annotation) for one in signature.parameters.values()]
        checked = is_checked(function) or name.startswith(ELSEWHERE)
        if any(ranges) and not checked:
            unchecked.add(name)
    assert unchecked == set()


@pytest.mark.parametrize("method", ["embed", "embed_sentences"])
def test_a_wrong_argument_of_elmo_is_an_error(method: str) -> None:
    function = getattr(Elmo.from_pretrained(), method)
    tried = 0
    for name, parameter in inspect.signature(function).parameters.items():
        if has_range(parameter.annotation):
            with pytest.raises(InputError, match=name):
                list(function([["She", "left"]], **{name: -1.5}))
            tried += 1
    assert tried > 0


def test_every_dataclass_with_a_range_checks_it() -> None:
    unchecked = set()
    for cls in dataclasses_of_the_package():
        ranges = [has_range(one) for one in annotations(cls).values()]
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
    Together("Vocabulary", "elmo_tasks_words", {"files": "x", "size": 3, "min_count": 3}, "min_count"),
    Together("Vocabulary", "elmo_tasks_words", {"file": "x", "size": 3}, "size"),
    Together("Vocabulary", "elmo_tasks_words", {"file": "x", "min_count": 3}, "min_count"),
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
