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
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any, Union, get_args, get_origin

from allennlp.commands.train import TrainModel
from allennlp.common import FromParams, Lazy, Params, Registrable, from_params
from allennlp.evaluation import Evaluator
from torch import nn

from elmo_tasks.settings import NAMES, Factor, Probability, Size, expected
from elmo_tasks.training.checks.problem import Problem, below, get, items, listed, nearest, shown, unknown_key
from elmo_tasks.training.seeds import EXPECTED, SEED, SEEDS, is_seed

NONE = type(None)
CONTAINERS: dict[Any, type] = {dict: dict, Mapping: dict, list: list, set: list, tuple: list, Iterable: list}
"""Annotations whose parts AllenNLP constructs, and the type of the value in a config."""

LIBRARIES = ("allennlp.", "torch.", "elmo_tasks.")
RANGES: dict[str, Any] = {
    **dict.fromkeys(("batch_size", "batches_per_epoch", "num_epochs", "hidden_size", "num_layers"), Size),
    **dict.fromkeys(("num_gradient_accumulation_steps", "keep_most_recent_by_count", "num_filters"), Size),
    **dict.fromkeys(
        ("lr", "weight_decay", "eps", "num_workers", "grad_norm", "grad_clipping", "padding_noise"), Factor
    ),
    "dropout": Probability,
    "ResumableTrainer.patience": Size,
}
"""Of the arguments of `LIBRARIES`, which do not declare them."""

Supplied = frozenset[str] | None
"""Arguments that code passes in addition to the config; `None` if unknown."""


@dataclass(frozen=True)
class Target:
    """The class that an object of the config constructs, and the parameters that the config can set."""

    cls: Any
    parameters: dict[str, Parameter]
    accepts_any: bool = False
    """Whether other keys can be valid, too, as for `**kwargs`."""
    is_registered: bool = False
    """Whether the key `type` selects it."""


def object_problems(
    path: str, value: Any, cls: Any, supplied: Supplied, *, other_keys: tuple[str, ...] = ()
) -> Iterator[Problem]:
    """
    Problems of a part of the config from which `FromParams` constructs a `cls`; `other_keys` are valid here, although
    the constructor does not take them.
    """
    if isinstance(value, str) and cls in Registrable._registry:
        value = {"type": value}
    if not isinstance(value, dict):
        yield Problem(path=path, expected=f"an object ({cls.__name__})", got=shown(value))
        return
    target = target_of(path, value, cls)
    if isinstance(target, Problem):
        yield target
    elif target is not None:
        found = {problem.path: problem for problem in _own_problems(path, value, target.cls)}
        found |= {problem.path: problem for problem in _key_problems(path, value, target, supplied, other_keys)}
        yield from found.values()


def target_of(path: str, config: dict[str, Any], cls: Any) -> Target | Problem | None:
    """What AllenNLP constructs, or why it cannot; `None` if a class reads its config in its own way."""
    if cls not in Registrable._registry:
        has_type = hasattr(cls, "config_problems")
        return None if _overrides_from_params(cls) else _inferred(cls, cls.__init__, is_registered=has_type)
    names = Registrable._registry[cls]
    name = config.get("type", cls.default_implementation)
    article = "an" if cls.__name__[0] in "AEIO" else "a"
    where = {"path": below(path, "type"), "got": shown(name)}
    if name is None:
        expected = f"the type of {article} {cls.__name__} ({listed(names)})"
        return Problem(**where | {"got": "none"}, expected=expected)
    expected = f"the name of {article} {cls.__name__}"
    if not isinstance(name, str):
        return Problem(**where, expected=expected)
    if name not in names:  # a Python path would be imported, and is not accepted in an archive
        near = nearest(name, names)
        more = f"{listed(names)}; --include-package registers more"
        return Problem(**where, expected=expected if near else f"{expected} ({more})", nearest=near)
    subclass, constructor = cls.resolve_class_name(name)
    if not hasattr(subclass, "from_params"):
        return _unconverted(subclass)
    return (
        None if _overrides_from_params(subclass) else _inferred(subclass, getattr(subclass, constructor or "__init__"))
    )


def _overrides_from_params(cls: Any) -> bool:
    """Whether a class reads its config itself and offers neither `config_problems` nor `inlined`."""
    own = getattr(cls.from_params, "__func__", None) is not FromParams.from_params.__func__
    return not inspect.isclass(cls) or (own and not any(hasattr(cls, name) for name in ("config_problems", "inlined")))


def _inferred(cls: Any, constructor: Callable[..., Any], *, is_registered: bool = True) -> Target:
    """
    With the parameters that AllenNLP infers; it takes `**kwargs` for those of the next base class. Those of `inlined`
    arguments (see `TaskModel`) stand in their place.
    """
    if constructor in (object.__init__, nn.Module.__init__):
        return Target(cls, {}, is_registered=is_registered)
    if hasattr(cls, "config_keys"):
        keys = {key: Parameter(key, Parameter.KEYWORD_ONLY, default=None) for key in cls.config_keys}
        return Target(cls, keys, is_registered=is_registered)
    inferred = from_params.infer_method_params(cls, constructor)
    for argument, construct in getattr(cls, "inlined", {}).items():
        inferred.pop(argument, None)
        inferred |= inspect.signature(construct).parameters
    named = {
        name: parameter
        for name, parameter in inferred.items()
        if name not in ("self", "cls") and parameter.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    }
    return Target(cls, named, _passes_on_anything(cls, constructor), is_registered)


def _passes_on_anything(cls: Any, constructor: Callable[..., Any]) -> bool:
    """Whether `**kwargs` reaches a class that AllenNLP does not construct, whose keys are unknown."""
    if constructor is object.__init__:
        return True
    base = next((base for base in cls.__mro__[1:] if issubclass(base, FromParams)), None)
    if not from_params.takes_kwargs(constructor):
        return False
    return base is None or _passes_on_anything(base, base.__init__)


def _unconverted(factory: Any) -> Target:
    """A registered class of PyTorch, to which AllenNLP passes the config as it is."""
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return Target(factory, {}, accepts_any=True, is_registered=True)
    plain = {name: parameter.replace(annotation=Parameter.empty) for name, parameter in parameters.items()}
    return Target(factory, plain, is_registered=True)


def _own_problems(path: str, config: dict[str, Any], cls: Any) -> Iterator[Problem]:
    """What the class itself reports, through the class method `config_problems`: key, expected, value."""
    if hasattr(cls, "config_problems"):
        for key, expected, value in cls.config_problems(config):
            yield Problem(path=below(path, key), expected=expected, got=shown(value))


def _key_problems(
    path: str, config: dict[str, Any], target: Target, supplied: Supplied, other_keys: tuple[str, ...]
) -> Iterator[Problem]:
    parameters = target.parameters
    known = [*(parameters.keys() - (supplied or ())), *other_keys, *(["type"] if target.is_registered else [])]
    for key, value in config.items():
        here = below(path, key)
        if key in parameters:
            yield from _argument_problems(here, value, parameters[key], target.cls, supplied)
        elif not target.accepts_any and not (key == "type" and target.is_registered):
            yield unknown_key(here, target.cls.__name__, known)
    if supplied is None:
        return
    for name, parameter in parameters.items():
        if name not in config and name not in supplied and parameter.default is parameter.empty:
            expected = f"a value: {target.cls.__name__} requires it"
            yield Problem(path=below(path, name), expected=expected, got="none")


def _argument_problems(path: str, value: Any, parameter: Parameter, cls: Any, supplied: Supplied) -> Iterator[Problem]:
    annotation = parameter.annotation
    if value is None:
        if _rejects_null(parameter, cls):
            yield Problem(path=path, expected=_described(annotation), got="null")
    elif not (isinstance(value, dict) and "_pretrained" in value):
        found = [] if annotation is Parameter.empty else list(_value_problems(path, value, annotation, supplied))
        implied = RANGES.get(parameter.name, RANGES.get(f"{cls.__name__}.{parameter.name}"))
        if not found and implied and isinstance(value, int | float) and cls.__module__.startswith(LIBRARIES):
            found = list(_value_problems(path, value, implied, supplied))
        yield from found


def _rejects_null(parameter: Parameter, cls: Any) -> bool:
    """Whether null is an error: other packages often accept it although they do not declare it."""
    annotation = parameter.annotation
    if parameter.default is None or annotation in (Parameter.empty, Any) or NONE in get_args(annotation):
        return False
    is_strict = cls.__module__.startswith(("elmo_tasks.", "allennlp.training."))
    return (is_strict or parameter.default is Parameter.empty) and from_params.can_construct_from_params(annotation)


def _value_problems(path: str, value: Any, annotation: Any, supplied: Supplied) -> Iterator[Problem]:
    """Follows `from_params.construct_arg`, which passes on values whose annotation it does not know."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is list and get_origin(arguments[0]) is Annotated and isinstance(value, list):
        for place, part in enumerate(value):
            yield from _value_problems(below(path, place), part, arguments[0], supplied)
    elif origin is Annotated:
        if problem := expected(annotation, value):
            yield Problem(path=path, expected=problem, got=shown(value))
    elif hasattr(annotation, "from_params"):
        yield from object_problems(path, value, annotation, supplied)
    elif origin is Lazy:
        yield from _value_problems(path, value, arguments[0], None)
    elif origin in (Union, types.UnionType):
        yield from _union_problems(path, value, annotation, supplied)
    elif origin in CONTAINERS and arguments and from_params.can_construct_from_params(arguments[-1]):
        yield from _container_problems(path, value, annotation, supplied)
    elif annotation in (bool, int, float, str):
        try:
            from_params.construct_arg("", path, value, annotation, None)
        except TypeError:
            yield Problem(path=path, expected=_described(annotation), got=shown(value))


def _container_problems(path: str, value: Any, annotation: Any, supplied: Supplied) -> Iterator[Problem]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    fits = isinstance(value, dict | list) and isinstance(value, CONTAINERS[origin])
    if not fits or (origin is tuple and len(value) != len(arguments)):
        yield Problem(path=path, expected=_described(annotation), got=shown(value))
        return
    for key, part in items(value):
        yield from _value_problems(below(path, key), part, arguments[key if origin is tuple else -1], supplied)


def _union_problems(path: str, value: Any, annotation: Any, supplied: Supplied) -> Iterator[Problem]:
    """None if one of the types fits; those inside of the value if only one type can have been meant."""
    alternatives = [one for one in get_args(annotation) if one is not NONE]
    found = [list(_value_problems(path, value, one, supplied)) for one in alternatives]
    if not all(found) or (value is None and NONE in get_args(annotation)):
        return
    inside = [problems for problems in found if any(problem.path != path for problem in problems)]
    if len(inside) == 1 or len(found) == 1:
        yield from (inside or found)[0]
    else:
        yield Problem(path=path, expected=_described(annotation), got=shown(value))


def _described(annotation: Any) -> str:
    """A plain type in words, another as it stands in Python code, without modules and `Lazy`."""
    if annotation in NAMES:
        return NAMES[annotation]
    text = re.sub(r"\b(\w+\.)+", "", inspect.formatannotation(annotation))
    return re.sub(r"\bLazy\[(\w+)\]", r"\1", text)


GIVEN_TO_TRAINING = frozenset({"serialization_dir", "local_rank", "ddp_accelerator"})

BESIDE_TRAINING = ("distributed", "evaluation", "include_in_archive", SEED, *SEEDS)
"""Keys of a config that `elmo-tasks train` and `evaluate` read themselves."""

DISTRIBUTED = ("cuda_devices", "ddp_accelerator")

NOT_DISTRIBUTED = {
    "evaluate_on_test": "false with distributed: only the first process would evaluate (use elmo-tasks evaluate)",
    "trainer.checkpointer.save_every_num_seconds": "save_every_num_batches with distributed",
}
"""Keys with which several processes fail or wait for each other, and what to set instead."""


def shape_problems(config: Mapping[str, Any]) -> list[Problem]:
    """
    Everything that the signatures of constructors tell about a config: unknown keys, wrong types, numbers out of range,
    unknown registered names, missing keys; sorted by path. No file is opened, nothing is constructed. Takes a resolved
    config, which is not modified.
    """
    plain = Params(copy.deepcopy(dict(config))).as_dict(quiet=True)  # "None" is null, as for AllenNLP
    if plain.get("type") == "elmo_tasks":  # which calls this check
        del plain["type"]
    separate = {key: plain.pop(key) for key in BESIDE_TRAINING if key in plain}
    problems = list(object_problems("", plain, TrainModel, GIVEN_TO_TRAINING, other_keys=BESIDE_TRAINING))
    if "evaluation" in separate:
        problems += object_problems("evaluation", separate["evaluation"], Evaluator, None)
    for key in (SEED, *SEEDS):
        if (seed := separate.get(key)) is not None and not is_seed(seed):
            problems.append(Problem(path=key, expected=EXPECTED, got=shown(seed)))
    problems += _distributed_problems(separate.get("distributed"), plain)
    return sorted(problems, key=lambda problem: problem.path)


def _distributed_problems(given: Any, config: dict[str, Any]) -> Iterator[Problem]:
    if given is None:
        return
    if not isinstance(given, dict):
        yield Problem(path="distributed", expected=f"an object ({listed(DISTRIBUTED)})", got=shown(given))
        return
    devices = given.get("cuda_devices")
    if not isinstance(devices, list) or not devices or not all(type(device) is int for device in devices):
        yield Problem(path="distributed.cuda_devices", expected="a list of device numbers", got=shown(devices))
    yield from (unknown_key(f"distributed.{key}", "distributed", DISTRIBUTED) for key in given.keys() - DISTRIBUTED)
    for path, instead in NOT_DISTRIBUTED.items():
        if value := get(config, path):
            yield Problem(path=path, expected=instead, got=shown(value))
