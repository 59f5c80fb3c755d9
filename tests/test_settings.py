"""
Types, ranges and defaults of settings, which constructors, `check`, the command line
and the docs read.
"""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from typing import Annotated, Any, Literal, Optional, TypedDict, Unpack

import numpy as np
import pytest
from allennlp.common import FromParams, Lazy, Params
from pydantic import BaseModel, ValidationError

from elmo_tasks.errors import InputError
from elmo_tasks.formats.json_values import valid
from elmo_tasks.settings import (
    Probability,
    Settings,
    Size,
    Wrong,
    annotations,
    checked,
    expected,
)


@pytest.mark.parametrize(
    ("annotation", "valid", "invalid"),
    [
        (Optional[Size], [None, 2], [0, "2"]),
        (list[Size], [[], [1, 2]], [[1, 0], [2.5], ["1"]]),
        (Literal[False, "sentence"], [False, "sentence"], [True, 0, "batch", None]),
        (Literal["a", 1], ["a", 1], [True, 1.0, np.array(["a", "b"])]),
        (
            Annotated[str, str.upper],
            [],
            [["a"], 5],
        ),  # a check sees values of its type alone
    ],
)
def test_what_is_expected(
    annotation: Any, valid: list[Any], invalid: list[Any]
) -> None:
    assert [expected(annotation, value) for value in valid] == [None] * len(valid)
    assert all(expected(annotation, value) for value in invalid)


@dataclass(frozen=True, kw_only=True)
class Lamp(Settings):
    watts: Annotated[Size, "of the bulb"] = 40
    dim: Annotated[Probability, "share that is dimmed"] = 0.0

    def conflicts(self) -> Iterator[Wrong]:
        if self.watts > 100 and not self.dim:
            yield Wrong("dim", "more than 0 above 100 watts", self.dim)


def test_all_problems_are_listed() -> None:
    with pytest.raises(
        InputError,
        match=r"watts: expected an integer of at least 1, got 0; dim: expected .* below 1",
    ):
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


class Finish(TypedDict, total=False):
    colour: str


@checked
def paint(table: Table, **finish: Unpack[Finish]) -> None:
    """A function with keywords of a known type."""


def test_an_unknown_argument_names_the_function() -> None:
    paint(Table(1), colour="red")
    with pytest.raises(InputError, match="^paint: colour: expected a string, got 5$"):
        paint(Table(1), colour=5)  # type: ignore[arg-type]
    problem = r"^paint\(\) got an unexpected keyword argument 'color'$"
    with pytest.raises(TypeError, match=problem):
        paint(Table(1), color="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^Table\.square\(\) .* 'height'$"):
        Table.square(1, height=2)  # type: ignore[call-arg]


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


class Chair(BaseModel):
    """JSON from outside."""

    legs: Annotated[Size, valid(Size)]
    share: Annotated[Optional[Probability], valid(Optional[Probability])] = None


@pytest.mark.parametrize(
    ("key", "value"), [("legs", 0), ("share", 1.0), ("share", nan)]
)
def test_pydantic_reads_the_same_annotations(key: str, value: Any) -> None:
    wanted = expected(annotations(Chair)[key], value)
    with pytest.raises(ValidationError) as raised:
        Chair.model_validate({"legs": 4, key: value}, strict=True)
    (problem,) = raised.value.errors()
    assert problem["loc"] == (key,)
    assert problem["msg"] == f"expected {wanted}"
    assert Chair.model_validate({"legs": 4, "share": 0}, strict=True).share == 0


def test_integers_of_thousands_of_digits() -> None:
    with pytest.raises(InputError, match="got an integer of thousands of digits"):
        Table(10**5000)
