"""
The arguments of a constructor that a config can set, and what is known about them.
"""

import inspect
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import Any

from allennlp.common import FromParams, from_params
from torch import nn

from elmo_tasks.settings import (
    Rule,
)
from elmo_tasks.training.checks.ranges import RULES, package_of, with_ranges
from elmo_tasks.training.inlined import with_inlined

BARE = (object.__init__, nn.Module.__init__)
"""Constructors without arguments."""

VARIABLE = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)


def may_be_null(parameter: Parameter, constructor: Any) -> bool:
    """
    Whether null is valid for an argument. AllenNLP passes null on regardless of the
    annotation. Its own classes treat it as false; a user's class may do so if the
    argument is optional.
    """
    if parameter.default is None or parameter.annotation in (Any, Parameter.empty):
        return True
    package = package_of(constructor)
    if package == "allennlp":
        return parameter.annotation is bool
    is_required = parameter.default is Parameter.empty
    return package != "elmo_tasks" and not is_required


def rules_of(cls: Any, constructor: Callable[..., Any]) -> Iterator[Rule]:
    """
    The rules of a constructor, and of those of the base classes that get its `kwargs`.
    """
    constructors: list[Any] = [constructor]
    if inspect.isfunction(constructor) and from_params.takes_kwargs(constructor):
        constructors += [vars(base).get("__init__") for base in cls.__mro__[1:]]
    for one in constructors:
        if hasattr(one, "rule"):
            yield one.rule
    if inspect.isclass(cls):
        for base in cls.__mro__:
            if base in RULES:
                yield RULES[base]


def arguments_of(
    cls: Any, constructor: Callable[..., Any]
) -> dict[str, Parameter] | None:
    """
    The arguments that a config can set, as AllenNLP infers them; those of `inlined`
    arguments stand in their place. `None` if the class reads its config in its own way.
    """
    if not hasattr(cls, "from_params"):
        return _untyped_arguments(cls)
    if not inspect.isclass(cls) or _reads_config_itself(cls):
        return None
    if hasattr(cls, "config_keys"):
        keys: dict[str, Parameter] = {}
        for key in cls.config_keys:
            keys[key] = Parameter(key, Parameter.KEYWORD_ONLY, default=None)
        return keys
    if constructor in BARE:
        return {}
    inferred = from_params.infer_method_params(cls, constructor)
    inferred = with_inlined(inferred, getattr(cls, "inlined", {}))
    settable = {}
    for name, parameter in inferred.items():
        if name not in ("self", "cls") and parameter.kind not in VARIABLE:
            settable[name] = parameter
    return with_ranges(cls, constructor, settable)


def _untyped_arguments(cls: Any) -> dict[str, Parameter] | None:
    """
    Of a class of PyTorch, to which AllenNLP passes the values as they are; `None` if it
    has no signature.
    """
    try:
        inferred = inspect.signature(cls).parameters
    except (TypeError, ValueError):
        return None
    found = {}
    for name, parameter in inferred.items():
        found[name] = parameter.replace(annotation=Parameter.empty)
    return found


def _reads_config_itself(cls: Any) -> bool:
    """
    Whether a class overrides `from_params`, and does not tell which keys that takes.
    """
    if hasattr(cls, "config_problems") or hasattr(cls, "inlined"):
        return False
    method = getattr(cls.from_params, "__func__", None)
    return method is not FromParams.from_params.__func__


def passes_on_anything(cls: Any, constructor: Callable[..., Any]) -> bool:
    """
    Whether `**kwargs` reaches a class that AllenNLP does not construct, whose keys are
    unknown.
    """
    if constructor is object.__init__:
        return True
    if not inspect.isroutine(constructor) or not from_params.takes_kwargs(constructor):
        return False
    for base in cls.__mro__[1:]:
        if issubclass(base, FromParams):
            return passes_on_anything(base, base.__init__)
    return True
