"""
Types, ranges and defaults of settings, which constructors, `check`, the command line
and the docs read.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Union

import numpy as np
import pytest
from allennlp.common import FromParams, Lazy, Params
from pydantic import TypeAdapter, ValidationError

from elmo_tasks.errors import InputError
from elmo_tasks.settings import (
    Factor,
    Filled,
    Limits,
    ListOf,
    NoNumber,
    PathLike,
    Positive,
    Probability,
    Settings,
    Share,
    Size,
    Text,
    Width,
    Wrong,
    checked,
    wrong_values,
)

Choice = Annotated[Literal[False, "sentence"], NoNumber]
NO_NUMBERS = [True, "5", b"5", [], {}, object, nan, inf, -inf, 10**400]


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (Size, [1, 2**31 - 1, np.int64(3)], [0, 2**31, 1.5, -(10**400), *NO_NUMBERS]),
        (Width, [1, 1_000_000], [0, 1_000_001]),
        (Optional[Size], [None, 2], [0, "2"]),
        (Probability, [0, 0.5, np.float32(0.25)], [-0.1, 1, 1.0, *NO_NUMBERS]),
        (Factor, [0, 3e38], [-1e-9, 4e38, *NO_NUMBERS]),
        (Positive, [1e-9, 3e38], [0, -1, *NO_NUMBERS]),
        (Share, [0, 1], [1.1, -0.1, *NO_NUMBERS]),
        (Limits, [[0, 1], (0.5, 0.2)], [[0.5, 0.5], [0], [0, 2], "ab", {0.1, 0.9}]),
        (list[Size], [[], [1, 2]], [[1, 0], [2.5], ["1"], 1]),
        (Annotated[ListOf[Size], Filled], [[1], (1,)], [[], [0], "1", {}, {1}]),
        (Choice, [False, "sentence"], [True, 0, 0.0, "batch", None]),
        (bool, [True], [1, "yes", None, np.array([True])]),
        (Union[Literal[False], Positive], [False, 5.0], [True, -1, "5"]),
        (PathLike, ["a", Path("a"), "https://h/x"], ["", "a\0b", 5, b"x", True, []]),
        (Text, ["la", "caf\u00e9"], ["", " ", "\0", "\ud800", 5, b"la"]),
    ],
)
def test_values(annotation: Any, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert wrong_values("key", annotation, value) == []
    for value in bad:
        found = wrong_values("key", annotation, value)
        assert found and all(wrong.key.startswith("key") for wrong in found)


@checked
@dataclass(frozen=True, kw_only=True)
class Lamp(Settings):
    watts: Annotated[Size, "of the bulb"] = 40
    dim: Annotated[Probability, "share that is dimmed"] = 0.0

    def conflicts(self) -> Iterator[Wrong]:
        if self.watts > 100 and not self.dim:
            yield Wrong("dim", "more than 0 above 100 watts", self.dim)


def test_all_problems_are_listed() -> None:
    expected = r"watts: expected a number greater than .* 1, got 0; dim: expected a number less than 1, g"
    with pytest.raises(InputError, match=expected):
        Lamp(watts=0, dim=2)
    with pytest.raises(InputError, match="dim: expected more than 0"):
        Lamp.of({"watts": 200, "colour": "red"})
    assert Lamp.of({"watts": 60, "colour": "red"}) == Lamp(watts=60)


class Table(FromParams):
    @checked
    def __init__(
        self,
        length: Size,
        *,
        width: Size = 1,
        legs: Optional[list[Size]] = None,
        **kwargs: Any,
    ) -> None:
        self.length, self.width = length, width

    @classmethod
    @checked
    def square(cls, side: Size) -> "Table":
        return cls(side, width=side)


class Desk(Table):
    """A class that passes arguments on."""

    def __init__(self, drawers: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)


def test_a_constructor_lists_all_invalid_arguments() -> None:
    expected = r"^Table: length: .* got 0; width: .* got nan; legs\.1: .* got True$"
    with pytest.raises(InputError, match=expected):
        Table(0, width=nan, legs=[1, True])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="^Table.square: side: .* got '1'$"):
        Table.square("1")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="length: .* got -1$"):
        Desk(drawers=1, length=-1)
    assert Desk(drawers=2, length=3, width=2, colour="red").width == 2
    with pytest.raises(TypeError, match=r"^Table\.square\(\) .* 'height'$"):
        Table.square(1, height=2)  # type: ignore[call-arg]


@checked
def total(read: Callable[[], int]) -> int:
    return read()


def test_an_error_of_the_function_is_its_own() -> None:
    def read() -> int:
        return TypeAdapter(int).validate_python("x")

    with pytest.raises(ValidationError):
        total(read)


def test_the_signature_stays() -> None:
    assert list(inspect.signature(Table).parameters) == [
        "length",
        "width",
        "legs",
        "kwargs",
    ]
    made = Desk.from_params(Params({"drawers": 1, "length": 3, "width": 2}))
    assert (made.length, made.width) == (3, 2)
    lazy = Lazy(Table, params=Params({"width": 2}))
    assert lazy.construct(length=2).width == 2
