"""Arguments of all constructors with a range or choices are checked."""

import argparse
import inspect

import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.pretraining.scores.surprisal import WordSurprisal
from elmo_tasks.settings import Positive, Size, number
from tests.package import functions, is_checked, registered

CONSTRUCTED = {parent for one in registered() for parent in one.cls.__mro__}


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


def test_an_option_is_a_number() -> None:
    assert (number(Size)("3"), number(Positive)("1e-3")) == (3, 0.001)
    for annotation, text in ((Size, "0"), (Size, "1.5"), (Positive, "nan")):
        with pytest.raises(argparse.ArgumentTypeError, match="expected .*, got"):
            number(annotation)(text)
