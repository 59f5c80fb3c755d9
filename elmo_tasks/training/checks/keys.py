"""
The keys of a config that no constructor takes, by the signatures of the classes that it
names: AllenNLP's trainer ignores them, and so does its training.
"""

from collections.abc import Iterable, Iterator, Mapping
from inspect import Parameter, isclass
from types import NoneType, UnionType
from typing import Annotated, Any, Optional, Union, get_args, get_origin

from allennlp.commands.train import TrainModel
from allennlp.common import FromParams, Lazy, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import infer_params
from allennlp.evaluation import Evaluator
from allennlp.training import Trainer
from torch import nn

from elmo_tasks.errors import nearest
from elmo_tasks.settings import (
    Device,
    Filled,
    ListOf,
    Seed,
    Wrong,
    checked,
    wrong_values,
)
from elmo_tasks.training.inlined import Inlining, with_inlined
from elmo_tasks.training.nested import below, items
from elmo_tasks.training.seeds import SEED, SEEDS

VARIABLE = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)

_BARE = (object.__init__, nn.Module.__init__)
"""Constructors without arguments."""

_SHOWN_KEYS = 12


class Distributed(FromParams):
    """
    Training with several processes.

    # Parameters

    - `cuda_devices`: one device for each process of a node: numbers of GPUs, or -1 for
      each CPU process.
    """

    @checked
    def __init__(
        self,
        cuda_devices: Annotated[ListOf[Device], Filled],
        ddp_accelerator: Any = None,
    ) -> None: ...


VALUES: dict[str, Any] = {
    "include_in_archive": Optional[list[str]],
    **dict.fromkeys((SEED, *SEEDS), Optional[Seed]),
}
BESIDE_TRAINING: dict[str, Any] = {
    "distributed": Optional[Distributed],
    "evaluation": Optional[Evaluator],
    **VALUES,
}
"""Keys that the commands read themselves, and AllenNLP's training does not take."""

GIVEN_TO_TRAINING = ("serialization_dir", "local_rank", "ddp_accelerator")
"""Arguments of AllenNLP's training that are no keys of a config."""


def parameters_of(cls: Any, constructor: Any) -> dict[str, Parameter]:
    """
    The arguments of a constructor, as AllenNLP infers them, without those that take any
    others; inlined ones are replaced by their own.
    """
    if constructor in _BARE or not hasattr(cls, "from_params"):
        return {}
    parameters: Mapping[str, Parameter] = infer_params(cls, constructor)
    if isclass(cls) and issubclass(cls, Inlining):
        parameters = with_inlined(parameters, cls.inlined)
    found = {}
    for name, parameter in parameters.items():
        if name not in ("self", "cls") and parameter.kind not in VARIABLE:
            found[name] = parameter
    return found


def wrong_beside_training(config: Mapping[str, Any]) -> Iterator[Wrong]:
    """The invalid values of those keys that are no objects."""
    for key, annotation in VALUES.items():
        yield from wrong_values(key, annotation, config.get(key))


def unknown_keys(config: Mapping[str, Any]) -> Iterator[str]:
    """A line for each unknown key of a config and of its parts."""
    taken: dict[str, Any] = {"type": str, **BESIDE_TRAINING}
    for key, parameter in parameters_of(
        TrainModel, TrainModel.from_partial_objects
    ).items():
        if key not in GIVEN_TO_TRAINING:
            taken[key] = parameter.annotation
    yield from _unknown_name(TrainModel, config, "")
    yield from _in_object("a training", taken, config, "")


def _in_object(
    name: str, taken: Mapping[str, Any], options: Mapping[str, Any], path: str
) -> Iterator[str]:
    """Those of an object whose keys have these types, and of its parts."""
    for key, value in options.items():
        here = below(path, key)
        if key in taken:
            yield from _in_value(taken[key], value, here)
            continue
        hint = _nearest_of(key, taken)
        yield f"{here}: expected a key of {name}, got the unknown key {key} ({hint})"


def _nearest_of(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    if near is not None:
        return f"nearest: {near}"
    return f"it has {', '.join(sorted(known)[:_SHOWN_KEYS])}"


def _unknown_name(base: Any, options: Mapping[str, Any], path: str) -> Iterator[str]:
    """A line for the name of a class that is neither registered nor a path."""
    name = options.get("type")
    known = base.list_available()
    if isinstance(name, str) and "." not in name and name not in known:
        here = below(path, "type")
        hint = _nearest_of(name, known)
        yield f"{here}: expected a name of {base.__name__}, got {name} ({hint})"


def _in_value(annotation: Any, value: Any, path: str) -> Iterator[str]:
    """Those of the objects in a value of this type."""
    plain = _without_lazy(annotation)
    if plain in (bool, int, float, str) and value is not None:
        yield from map(str, wrong_values(path, plain, value))
    if isclass(plain) and issubclass(plain, FromParams):
        if isinstance(value, Mapping):
            yield from _in_class(plain, value, path)
    elif get_args(plain):
        for key, part in items(value):
            yield from _in_value(get_args(plain)[-1], part, below(path, key))


def _without_lazy(annotation: Any) -> Any:
    """The one type that is constructed; `None` if there are several."""
    origin = get_origin(annotation)
    if origin in (Lazy, Annotated):
        return _without_lazy(get_args(annotation)[0])
    if origin in (Union, UnionType):
        kinds = {_without_lazy(one) for one in get_args(annotation)} - {NoneType}
        return kinds.pop() if len(kinds) == 1 else None
    return annotation


def _in_class(base: Any, options: Mapping[str, Any], path: str) -> Iterator[str]:
    """
    Those of an object of the class that the options name. A class whose name or keys
    are not known here says itself what it takes, when it is constructed.
    """
    cls, constructor = base, base.__init__
    if issubclass(base, Registrable) and base in Registrable._registry:
        yield from _unknown_name(base, options, path)
        try:
            cls, method = base.resolve_class_name(
                options.get("type", base.default_implementation)
            )
        except (ConfigurationError, TypeError, ImportError, ValueError):
            return
        constructor = getattr(cls, method or "__init__")
    taken = {"type": str, **getattr(cls, "config_keys", {})}
    if _is_known(cls, constructor):
        for key, parameter in parameters_of(cls, constructor).items():
            taken[key] = parameter.annotation
    if len(taken) > 1:
        yield from _in_object(cls.__name__, taken, options, path)


def _is_known(cls: Any, constructor: Any) -> bool:
    """
    Whether the arguments of a class are all its keys: those of others may pass on any
    further ones, and a trainer ignores them.
    """
    if not hasattr(cls, "from_params"):
        return False
    if cls.from_params.__func__ is not FromParams.from_params.__func__:
        return issubclass(cls, Inlining)
    if issubclass(cls, Trainer) or cls.__module__.startswith("elmo_tasks."):
        return True
    kinds = [one.kind for one in infer_params(cls, constructor).values()]
    return Parameter.VAR_KEYWORD not in kinds
