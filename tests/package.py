"""What the package has: functions and methods, and registered classes."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, NamedTuple

from allennlp.common import Registrable

import elmo_tasks
from elmo_tasks.training.checks.keys import parameters_of


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


class Function(NamedTuple):
    """A function, or a method of the class `owner`, decorated or not."""

    owner: type | None
    function: Any


def functions() -> Iterator[Function]:
    """Functions, constructors and methods, but not those that dataclasses have."""
    for module in pkgutil.walk_packages(elmo_tasks.__path__, "elmo_tasks."):
        if ".integrations." in module.name:
            continue  # adapters of packages that need not be installed
        for one in vars(importlib.import_module(module.name)).values():
            if getattr(one, "__module__", None) != module.name:
                continue
            if inspect.isfunction(one):
                yield Function(None, one)
            if inspect.isclass(one):
                for key, method in vars(one).items():
                    function = getattr(method, "__func__", method)
                    made = is_dataclass(one) and key == "__init__"
                    if inspect.isfunction(function) and not made:
                        yield Function(one, function)


def is_checked(function: Any) -> bool:
    while hasattr(function, "__wrapped__"):
        if function.__code__.co_qualname == "checked.<locals>.construct":
            return True
        function = function.__wrapped__
    return False
