"""
Arguments of all constructors, functions and settings, and options of all commands: what
is not of its type is refused in one line that names it.
"""

import argparse
import importlib
import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from elmo_tasks.cli.main import COMMANDS
from elmo_tasks.elmo import Elmo
from elmo_tasks.pretraining.scores.surprisal import WordSurprisal
from elmo_tasks.settings import Positive, Size, WrongValues, number, wrong_values
from tests.package import functions, is_checked, registered, settings

VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


CONSTRUCTED = {parent for one in registered() for parent in one.cls.__mro__}


class Odd:
    """An object that no argument takes."""


class Called(NamedTuple):
    """What checks its arguments."""

    name: str
    function: Any
    annotations: dict[str, Any]


def called(name: str, function: Any) -> Called:
    found = {}
    signature = inspect.signature(function, eval_str=True)
    for key, parameter in signature.parameters.items():
        if key not in ("self", "cls") and parameter.kind not in VARIABLE:
            found[key] = parameter.annotation
    return Called(name, function, found)


def checked_functions() -> Iterator[Called]:
    for one in functions():
        if is_checked(one.function):
            yield called(one.name, one.function)
    for cls in settings():
        yield called(cls.__name__, cls.__init__)


@pytest.mark.parametrize("one", list(checked_functions()), ids=lambda one: one.name)
def test_an_odd_object_is_refused(one: Called) -> None:
    refused = []
    for key, annotation in one.annotations.items():
        if wrong_values(key, list[annotation], [Odd()]):
            refused.append(key)
    given = dict.fromkeys(one.annotations, Odd())
    if "self" in inspect.signature(one.function).parameters:
        given["self"] = Odd()
    if "cls" in inspect.signature(one.function).parameters:
        given["cls"] = Odd()
    if not refused:
        return
    with pytest.raises(WrongValues, match=r"^[^\n]+: expected [^\n]+$") as raised:
        one.function(**given)
    assert [wrong.key for wrong in raised.value.found] == refused


def test_what_has_a_range_or_choices_is_checked() -> None:
    unchecked = []
    for owner, function in functions():
        parameters = str(inspect.signature(function).parameters)
        has_range = "FieldInfo" in parameters or "Literal" in parameters
        is_public = owner is not None and not function.__name__.startswith("_")
        of_config = owner in CONSTRUCTED and function.__name__ == "__init__"
        is_open = of_config or (is_public and owner in (Elmo, WordSurprisal))
        if (is_open and has_range) and not is_checked(function):
            unchecked.append(function.__qualname__)
    assert unchecked == ["Elmo.vector_model"]  # whose callers check


def options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for nested in action.choices.values():
                yield from options(nested)
        elif action.nargs != 0:
            yield action


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_refuses_empty_text(command: str) -> None:
    module = importlib.import_module(f"elmo_tasks.cli.{command.replace('-', '_')}")
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    for action in options(parser):
        if callable(action.type):
            with pytest.raises(argparse.ArgumentTypeError) as raised:
                action.type("")
            assert len(str(raised.value)) < 300


def test_an_option_is_a_number() -> None:
    assert (number(Size)("3"), number(Positive)("1e-3")) == (3, 0.001)
    for annotation, text in ((Size, "0"), (Size, "1.5"), (Positive, "nan")):
        with pytest.raises(argparse.ArgumentTypeError, match="expected .*, got"):
            number(annotation)(text)
