"""Types, ranges and defaults of settings, which constructors, `check`, the command line and the docs read."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from typing import Annotated, Any, Literal, Optional

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.settings import PathLike, Probability, Settings, Size, Wrong, expected


@pytest.mark.parametrize(
    ("annotation", "valid", "invalid"),
    [
        (Size, [1, 7], [0, -1, 1.5, True, "1", None]),
        (Probability, [0, 0.5], [1, -0.1, nan, False, "x"]),
        (Optional[Size], [None, 2], [0, "2"]),
        (list[Size], [[], [1, 2]], [[1, 0], [2.5], ["1"]]),
        (Literal[False, "sentence"], [False, "sentence"], [True, 0, "batch", None]),
        (PathLike, ["a"], [5, None, True]),
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
