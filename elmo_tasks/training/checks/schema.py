"""
Unknown keys, wrong types, unknown names and missing keys of a config.

The signatures of the constructors are the source of truth, for classes of AllenNLP, of this package and of users. A
class that overrides `from_params` is skipped, unless it has a class method `config_problems`.
"""

import copy
import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    expected,
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
from elmo_tasks.training.checks.problem import (
    Problem,
    below,
    get,
    items,
    shown,
    unknown,
)
from elmo_tasks.training.seeds import SEED, SEEDS

CONTAINERS: dict[Any, type] = {
    dict: dict,
    Mapping: dict,
    list: list,
    set: list,
    tuple: list,
    Iterable: list,
}
"""Annotations whose parts AllenNLP constructs, and the type of the value in a config."""

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
    Problems of a part of the config from which `FromParams` constructs a `cls`; `other_keys` are valid here, although
    the constructor does not take them.
    """
    registered = Registrable._registry.get(cls)
    if isinstance(value, str) and registered is not None:
        value = {"type": value}
    if not isinstance(value, dict):
        yield Problem(path, f"an object ({cls.__name__})", shown(value))
        return
    constructor = cls.__init__
    if registered is not None:
        name = value.get("type", cls.default_implementation)
        if (
            not isinstance(name, str) or name not in registered
        ):  # a Python path would be imported: not in an archive
            wanted, more = (
                f"a registered {cls.__name__}",
                "; --include-package registers more",
            )
            yield unknown(
                below(path, "type"),
                wanted,
                shown(name),
                registered,
                name=str(name),
                more=more,
            )
            return
        cls, method = cls.resolve_class_name(name)
        constructor = getattr(cls, method or "__init__")
    if (parameters := arguments_of(cls, constructor)) is None:
        return
    has_type = registered is not None or hasattr(cls, "config_problems")
    own = cls.config_problems(value) if hasattr(cls, "config_problems") else ()
    found = {
        below(path, key): Problem(below(path, key), wanted, shown(it))
        for key, wanted, it in own
    }
    known = [
        *(parameters.keys() - (supplied or ())),
        *other_keys,
        *(["type"] if has_type else []),
    ]
    accepts_any = constructor not in BARE and passes_on_anything(cls, constructor)
    for key, part in value.items():
        here = below(path, key)
        if key in parameters:
            parameter = parameters[key]
            is_valid_null = part is None and may_be_null(parameter, constructor)
            is_loaded = isinstance(part, dict) and "_pretrained" in part
            if not is_valid_null and not is_loaded:
                of_part = _value_problems(here, part, parameter.annotation, supplied)
                found |= {problem.path: problem for problem in of_part}
        elif not accepts_any and not (key == "type" and has_type):
            found[here] = unknown(
                here,
                f"a key of {cls.__name__}",
                f"the unknown key {key}",
                known,
                name=key,
            )
    if not found:
        yield from _conflicts(path, value, cls, constructor, parameters)
    yield from found.values()
    for key, parameter in parameters.items() if supplied is not None else ():
        if (
            key not in value
            and key not in (supplied or ())
            and parameter.default is Parameter.empty
        ):
            yield Problem(
                below(path, key), f"a value: {cls.__name__} requires it", "none"
            )


def _conflicts(
    path: str,
    value: Mapping[str, Any],
    cls: Any,
    constructor: Callable[..., Any],
    parameters: Mapping[str, Parameter],
) -> Iterator[Problem]:
    """What the rules of a constructor say, and of those to which it passes other arguments on (`together`)."""
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
            got = shown(wrong.value) if wrong.key in value else "none"
            yield Problem(below(path, wrong.key), wrong.expected, got)


def _value_problems(
    path: str, value: Any, annotation: Any, supplied: Supplied
) -> Iterator[Problem]:
    """Follows `from_params.construct_arg`, which passes on values whose annotation it does not know."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if hasattr(annotation, "from_params"):
        yield from object_problems(path, value, annotation, supplied)
    elif has_range(annotation):
        for wrong in wrong_values(path, annotation, value):
            yield Problem(wrong.key, wrong.expected, shown(wrong.value))
    elif origin is Lazy:
        yield from _value_problems(path, value, arguments[0], None)
    elif origin in (Union, types.UnionType):
        kinds = [one for one in arguments if get_origin(one) is Lazy] or [*arguments]
        kinds = [one for one in kinds if one is not types.NoneType]
        found: list[list[Problem]] = [
            list(_value_problems(path, value, kind, supplied)) for kind in kinds
        ]
        if all(found) and not (value is None and types.NoneType in arguments):
            deepest = max(
                found, key=lambda problems: len(problems[0].path)
            )  # of the type that fits best
            is_outer = deepest[0].path == path and len(found) > 1
            yield from (
                [Problem(path, _described(annotation), shown(value))]
                if is_outer
                else deepest
            )
    elif (
        origin in CONTAINERS
        and arguments
        and from_params.can_construct_from_params(arguments[-1])
    ):
        fits = isinstance(value, dict | list) and isinstance(value, CONTAINERS[origin])
        if not fits or (origin is tuple and len(value) != len(arguments)):
            yield Problem(path, _described(annotation), shown(value))
            return
        for key, part in items(value):
            yield from _value_problems(
                below(path, key),
                part,
                arguments[key if origin is tuple else -1],
                supplied,
            )
    elif annotation is Path:
        if not isinstance(value, str):
            yield Problem(path, NAMES[Path], shown(value))
    else:
        for wrong in wrong_values(path, annotation, value):
            yield Problem(wrong.key, wrong.expected, shown(wrong.value))


def _described(annotation: Any) -> str:
    text = NAMES.get(annotation) or re.sub(
        r"\b(\w+\.)+", "", inspect.formatannotation(annotation)
    )
    return re.sub(r"\bLazy\[(\w+)\]", r"\1", text)


GIVEN_TO_TRAINING = frozenset({"serialization_dir", "local_rank", "ddp_accelerator"})

BESIDE_TRAINING = ("distributed", "evaluation", "include_in_archive", SEED, *SEEDS)
"""Keys of a config that `elmo-tasks train` and `evaluate` read themselves."""

NOT_DISTRIBUTED = {
    "evaluate_on_test": "false with distributed: only the first process would evaluate (use elmo-tasks evaluate)",
    "trainer.checkpointer.save_every_num_seconds": "save_every_num_batches with distributed",
}
"""Keys with which several processes fail or wait for each other, and what to set instead."""


class Distributed(FromParams):
    """The keys of `distributed`."""

    def __init__(
        self,
        cuda_devices: Annotated[list[Device], not_empty],
        ddp_accelerator: Any = None,
    ) -> None: ...


def shape_problems(config: Mapping[str, Any]) -> list[Problem]:
    """
    Everything that the signatures of constructors tell about a config: unknown keys, wrong types, numbers out of range,
    unknown registered names, missing keys; sorted by path. No file is opened, nothing is constructed. Takes a resolved
    config, which is not modified.
    """
    plain = Params(copy.deepcopy(dict(config))).as_dict(
        quiet=True
    )  # "None" is null, as for AllenNLP
    if plain.get("type") == "elmo_tasks":  # which calls this check
        del plain["type"]
    separate = {key: plain.pop(key) for key in BESIDE_TRAINING if key in plain}
    problems = list(
        object_problems(
            "", plain, TrainModel, GIVEN_TO_TRAINING, other_keys=BESIDE_TRAINING
        )
    )
    included = separate.get("include_in_archive")
    if included is not None:
        for wrong in wrong_values("include_in_archive", list[str], included):
            problems.append(Problem(wrong.key, wrong.expected, shown(wrong.value)))
    problems += _of_evaluation(separate)
    evaluates = plain.get("evaluate_on_test") and "distributed" not in separate
    if evaluates and not plain.get("test_data_path"):
        wanted = "false without a test_data_path"
        problems.append(Problem("evaluate_on_test", wanted, "true"))
    if (distributed := separate.get("distributed")) is not None:
        problems += object_problems(
            "distributed", distributed, Distributed, frozenset()
        )
        found = (
            (path, instead, get(plain, path))
            for path, instead in NOT_DISTRIBUTED.items()
        )
        problems += [
            Problem(path, instead, shown(value))
            for path, instead, value in found
            if value
        ]
    return sorted(problems)


def evaluation_problems(config: Mapping[str, Any]) -> list[Problem]:
    """
    `shape_problems` of the keys of a trained model's config that its evaluation reads: the data loader, the evaluator
    and the seeds. Other keys may have any value.
    """
    plain = Params(copy.deepcopy(dict(config))).as_dict(quiet=True)
    key = "validation_data_loader"
    if not plain.get(key):
        key = "data_loader"
    supplied = frozenset({"reader", "data_path"})
    problems = [*object_problems(key, plain.get(key), DataLoader, supplied)]
    return sorted(problems + _of_evaluation(plain))


def _of_evaluation(config: Mapping[str, Any]) -> list[Problem]:
    """The problems of the evaluator and the seeds."""
    problems: list[Problem] = []
    if "evaluation" in config:
        problems += object_problems("evaluation", config["evaluation"], Evaluator, None)
    for key in (SEED, *SEEDS):
        seed = config.get(key)
        if seed is not None and (wanted := expected(Seed, seed)):
            problems.append(Problem(key, wanted, shown(seed)))
    return problems
