"""The names of `elmo_tasks`: what they are, and the examples of their docstrings."""

import doctest
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import elmo_tasks
from elmo_tasks import Elmo, InputError, WordSurprisal

PUBLIC = [
    name for name in elmo_tasks.__all__ if name not in ("__version__", "InputError")
]


def documented(name: str) -> Iterator[tuple[str, Any]]:
    """The public class or function, and the methods of a class that have arguments."""
    one = getattr(elmo_tasks, name)
    yield name, one
    for key, member in vars(one).items() if inspect.isclass(one) else ():
        function = getattr(member, "__func__", member)
        if not key.startswith("_") and inspect.isfunction(function):
            yield f"{name}.{key}", function


@pytest.mark.parametrize("name", PUBLIC)
def test_each_public_docstring_has_an_example(name: str) -> None:
    without = []
    for called, one in documented(name):
        used = f"{called.rpartition('.')[2]}("
        examples = (
            ">>> " in (one.__doc__ or "") or used in getattr(elmo_tasks, name).__doc__
        )
        if not examples:
            without.append(called)
    assert without == []


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_are_true(name: str) -> None:
    module = sys.modules[getattr(elmo_tasks, name).__module__]
    assert doctest.testmod(module).failed == 0


def test_only_the_public_names_are_offered() -> None:
    assert dir(elmo_tasks) == elmo_tasks.__all__ == sorted(elmo_tasks.__all__)


def test_wrong_keywords_name_the_nearest() -> None:
    with pytest.raises(TypeError, match="'bach_size'; did you mean batch_size\\?"):
        Elmo.from_pretrained(bach_size=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="did you mean tokenizer"):
        WordSurprisal.from_pretrained(tokeniser="basic")  # type: ignore[call-arg]


def test_notebooks_show_an_input_error_in_one_line() -> None:
    shown = InputError("expected X", file="a.txt", line=3)._render_traceback_()
    assert shown == ["InputError: a.txt:3: expected X"]
