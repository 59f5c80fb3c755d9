"""
Unknown keys, wrong types, unknown names and missing keys of a config.

The signatures of the constructors are the source of truth, for classes of AllenNLP, of
this package and of users. A class that overrides `from_params` is skipped, unless it
has a class method `config_problems`.
"""

import copy
import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from allennlp.commands.train import TrainModel
from allennlp.common import FromParams, Lazy, Params, Registrable, from_params
from allennlp.data import DataLoader
from allennlp.evaluation import Evaluator

from elmo_tasks.settings import (
    NAMES,
    Device,
    Seed,
    has_range,
    not_empty,
    wrong_values,
)
from elmo_tasks.training.checks.arguments import (
    BARE,
    arguments_of,
    may_be_null,
    passes_on_anything,
    rules_of,
)
from elmo_tasks.training.checks.problem import Problem, shown, unknown
from elmo_tasks.training.nested import below, get, items
from elmo_tasks.training.seeds import SEED, SEEDS

CONTAINERS: dict[Any, type] = {
    dict: dict,
    Mapping: dict,
    list: list,
    set: list,
    tuple: list,
    Iterable: list,
}
"""
Annotations whose parts AllenNLP constructs, and the type of the value in a config.
"""

Supplied = frozenset[str] | None
"""Arguments that code passes in addition to the config; `None` if unknown."""


def object_problems(
    path: str,
    value: Any,
    cls: Any,
    supplied: Supplied,
    *,
    other_keys: tuple[str, ...] = (),
) -> Iterator[Problem]:
    """
    Problems of a part of the config from which `FromParams` constructs a `cls`;
    `other_keys` are valid here, although the constructor does not take them.
    """
    registered = Registrable._registry.get(cls)
    if registered is not None and isinstance(value, str):
        value = {"type": value}
    if not isinstance(value, dict):
        yield Problem(path, f"an object ({cls.__name__})", shown(value))
        return
    constructor = cls.__init__
    if registered is not None:
        name = value.get("type", cls.default_implementation)
        # A Python path is no registered name: AllenNLP would import it.
        if not isinstance(name, str) or name not in registered:
            yield _unknown_type(path, name, cls, registered)
            return
        cls, method = cls.resolve_class_name(name)
        constructor = getattr(cls, method or "__init__")
    parameters = arguments_of(cls, constructor)
    if parameters is None:
        return
    found = _own_problems(path, value, cls)
    extra = set(other_keys)
    if registered is not None or hasattr(cls, "config_problems"):
        extra.add("type")
    for key, part in value.items():
        here = below(path, key)
        if key in parameters:
            if not _is_not_constructed(part, parameters[key], constructor):
                annotation = parameters[key].annotation
                for problem in _value_problems(here, part, annotation, supplied):
                    found[problem.path] = problem
        elif key not in extra and not _takes_anything(cls, constructor):
            known = extra | (parameters.keys() - (supplied or ()))
            found[here] = _unknown_key(here, key, cls, known)
    if not found:
        yield from _conflicts(path, value, cls, constructor, parameters)
    yield from found.values()
    if supplied is not None:
        for key in _missing(value, parameters, supplied):
            wanted = f"a value: {cls.__name__} requires it"
            yield Problem(below(path, key), wanted, "none")


def _unknown_type(
    path: str, name: Any, cls: Any, registered: Mapping[str, Any]
) -> Problem:
    return unknown(
        below(path, "type"),
        f"a registered {cls.__name__}",
        shown(name),
        registered,
        name=str(name),
        more="; --include-package registers more",
    )


def _unknown_key(path: str, key: str, cls: Any, known: Iterable[str]) -> Problem:
    wanted = f"a key of {cls.__name__}"
    return unknown(path, wanted, f"the unknown key {key}", known, name=key)


def _own_problems(path: str, value: Mapping[str, Any], cls: Any) -> dict[str, Problem]:
    """What a class that reads its config in its own way says of it, by path."""
    found = {}
    if hasattr(cls, "config_problems"):
        for wrong in cls.config_problems(value):
            problem = Problem.of(wrong, path)
            found[problem.path] = problem
    return found


def _is_not_constructed(part: Any, parameter: Parameter, constructor: Any) -> bool:
    """Whether AllenNLP passes on null, or takes the part of a trained model."""
    if part is None:
        return may_be_null(parameter, constructor)
    return isinstance(part, dict) and "_pretrained" in part


def _takes_anything(cls: Any, constructor: Any) -> bool:
    return constructor not in BARE and passes_on_anything(cls, constructor)


def _missing(
    value: Mapping[str, Any], parameters: Mapping[str, Parameter], supplied: Set[str]
) -> Iterator[str]:
    """The required arguments that neither the config nor code passes."""
    for key, parameter in parameters.items():
        is_required = parameter.default is Parameter.empty
        if is_required and key not in value and key not in supplied:
            yield key


def _conflicts(
    path: str,
    value: Mapping[str, Any],
    cls: Any,
    constructor: Callable[..., Any],
    parameters: Mapping[str, Parameter],
) -> Iterator[Problem]:
    """
    What the rules of a constructor say, and of those to which it passes other arguments
    on (`together`).
    """
    values = {key: value[key] for key in parameters if key in value}
    for key, parameter in parameters.items():
        if parameter.default is not Parameter.empty:
            values.setdefault(key, parameter.default)
    for rule in rules_of(cls, constructor):
        try:
            found = list(rule(values))
        except KeyError:  # a missing argument, which is another problem
            continue
        for wrong in found:
            problem = Problem.of(wrong, path)
            if wrong.key not in value:
                problem = problem._replace(got="none")
            yield problem


def _value_problems(
    path: str, value: Any, annotation: Any, supplied: Supplied
) -> Iterator[Problem]:
    """
    Follows `from_params.construct_arg`, which passes on values whose annotation it does
    not know.
    """
    origin = get_origin(annotation)
    if hasattr(annotation, "from_params"):
        yield from object_problems(path, value, annotation, supplied)
    elif has_range(annotation):
        yield from _setting_problems(path, value, annotation)
    elif origin is Lazy:
        (kind,) = get_args(annotation)
        yield from _value_problems(path, value, kind, None)
    elif origin in (Union, types.UnionType):
        yield from _union_problems(path, value, annotation, supplied)
    elif _has_constructed_parts(annotation):
        yield from _container_problems(path, value, annotation, supplied)
    elif annotation is Path:
        if not isinstance(value, str):
            yield Problem(path, NAMES[Path], shown(value))
    else:
        yield from _setting_problems(path, value, annotation)


def _setting_problems(path: str, value: Any, annotation: Any) -> Iterator[Problem]:
    for wrong in wrong_values(path, annotation, value):
        yield Problem.of(wrong)


def _union_problems(
    path: str, value: Any, annotation: Any, supplied: Supplied
) -> Iterator[Problem]:
    """
    The problems of a value that fits none of several types: those of the type that fits
    best.
    """
    kinds = get_args(annotation)
    if value is None and types.NoneType in kinds:
        return
    lazy = [kind for kind in kinds if get_origin(kind) is Lazy]
    found = []
    for kind in lazy or kinds:
        if kind is not types.NoneType:
            found.append(list(_value_problems(path, value, kind, supplied)))
    if not all(found):
        return
    deepest = max(found, key=_depth)
    if len(found) > 1 and deepest[0].path == path:
        yield Problem(path, _described(annotation), shown(value))
    else:
        yield from deepest


def _depth(problems: Sequence[Problem]) -> int:
    """How deep inside of a value its first problem is."""
    return len(problems[0].path)


def _has_constructed_parts(annotation: Any) -> bool:
    """Whether a type is a list or an object whose parts AllenNLP constructs."""
    kinds = get_args(annotation)
    if get_origin(annotation) not in CONTAINERS or not kinds:
        return False
    return bool(from_params.can_construct_from_params(kinds[-1]))


def _container_problems(
    path: str, value: Any, annotation: Any, supplied: Supplied
) -> Iterator[Problem]:
    origin = get_origin(annotation)
    kinds = get_args(annotation)
    fits = isinstance(value, dict | list) and isinstance(value, CONTAINERS[origin])
    if fits and origin is tuple:
        fits = len(value) == len(kinds)
    if not fits:
        yield Problem(path, _described(annotation), shown(value))
        return
    for key, part in items(value):
        kind = kinds[-1]
        if origin is tuple:
            kind = kinds[key]
        yield from _value_problems(below(path, key), part, kind, supplied)


def _described(annotation: Any) -> str:
    """A type in words, or as it stands in code, without modules and `Lazy`."""
    if annotation in NAMES:
        return NAMES[annotation]
    text = re.sub(r"\b(\w+\.)+", "", inspect.formatannotation(annotation))
    return re.sub(r"\bLazy\[(\w+)\]", r"\1", text)


GIVEN_TO_TRAINING = frozenset({"serialization_dir", "local_rank", "ddp_accelerator"})

BESIDE_TRAINING = ("distributed", "evaluation", "include_in_archive", SEED, *SEEDS)
"""Keys of a config that `elmo-tasks train` and `evaluate` read themselves."""

NOT_DISTRIBUTED = {
    "evaluate_on_test": "false with distributed: only the first process would evaluate (use elmo-tasks evaluate)",
    "trainer.checkpointer.save_every_num_seconds": "save_every_num_batches with distributed",
}
"""
Keys with which several processes fail or wait for each other, and what to set instead.
"""


class Distributed(FromParams):
    """
    Training with several processes.

    # Parameters

    - `cuda_devices`: one device for each process of a node: numbers of GPUs, or -1 for
      each CPU process.
    """

    def __init__(
        self,
        cuda_devices: Annotated[list[Device], not_empty],
        ddp_accelerator: Any = None,
    ) -> None: ...


def shape_problems(config: Mapping[str, Any]) -> list[Problem]:
    """
    Everything that the signatures of constructors tell about a config: unknown keys,
    wrong types, numbers out of range, unknown registered names, missing keys; sorted by
    path. No file is opened, nothing is constructed. Takes a resolved config, which is
    not modified.
    """
    of_training = _plain(config)
    if of_training.get("type") == "elmo_tasks":  # which calls this check
        del of_training["type"]
    beside = {}
    for key in BESIDE_TRAINING:
        if key in of_training:
            beside[key] = of_training.pop(key)
    problems = [
        *object_problems(
            "", of_training, TrainModel, GIVEN_TO_TRAINING, other_keys=BESIDE_TRAINING
        )
    ]
    included = beside.get("include_in_archive")
    if included is not None:
        problems += _setting_problems("include_in_archive", included, list[str])
    problems += _of_evaluation(beside)
    distributed = beside.get("distributed")
    if distributed is not None:
        problems += _of_distributed(distributed, of_training)
    evaluates = of_training.get("evaluate_on_test") and "distributed" not in beside
    if evaluates and not of_training.get("test_data_path"):
        wanted = "false without a test_data_path"
        problems.append(Problem("evaluate_on_test", wanted, "true"))
    return sorted(problems)


def evaluation_problems(config: Mapping[str, Any]) -> list[Problem]:
    """
    `shape_problems` of the keys of a trained model's config that its evaluation reads:
    the data loader, the evaluator and the seeds. Other keys may have any value.
    """
    plain = _plain(config)
    key = "validation_data_loader"
    if not plain.get(key):
        key = "data_loader"
    supplied = frozenset({"reader", "data_path"})
    problems = [*object_problems(key, plain.get(key), DataLoader, supplied)]
    return sorted(problems + _of_evaluation(plain))


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    """A copy in which "None" is null, as it is for AllenNLP."""
    copied = Params(copy.deepcopy(dict(config)))
    return dict(copied.as_dict(quiet=True))


def _of_evaluation(config: Mapping[str, Any]) -> list[Problem]:
    """The problems of the evaluator and the seeds."""
    problems: list[Problem] = []
    if "evaluation" in config:
        problems += object_problems("evaluation", config["evaluation"], Evaluator, None)
    for key in (SEED, *SEEDS):
        if config.get(key) is not None:
            problems += _setting_problems(key, config[key], Seed)
    return problems


def _of_distributed(distributed: Any, config: Mapping[str, Any]) -> list[Problem]:
    """
    The problems of `distributed`, and of keys with which several processes do not work.
    """
    problems = [*object_problems("distributed", distributed, Distributed, frozenset())]
    for path, instead in NOT_DISTRIBUTED.items():
        value = get(config, path)
        if value:
            problems.append(Problem(path, instead, shown(value)))
    return problems
