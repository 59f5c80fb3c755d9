"""
Errors of the construction of a config, and the key that each is about. The objects are
constructed as AllenNLP constructs a model: through its functions alone.
"""

import json
from typing import Any, NamedTuple, Optional, Union

import pytest
from allennlp.common import FromParams, Lazy, Params, Registrable
from allennlp.nn import Activation

from elmo_tasks.training.checks.blame import Location, problems_of


class Animal(Registrable):
    default_implementation = "cat"


class Food(FromParams):
    def __init__(self, weight: float, salt: bool = False, lr: float = 1.0) -> None:
        self.weight = weight


@Animal.register("cat")
class Cat(Animal):
    def __init__(
        self,
        food: Food,
        lives: int = 9,
        name: Optional[str] = None,
        prey: Optional[list[Food]] = None,
        friends: Optional[dict[str, Animal]] = None,
        home: tuple[str, int] = ("house", 1),
        voice: Optional[Activation] = None,
        size: Union[float, list[float]] = 1.0,
        later: Optional[Lazy[Food]] = None,
        untyped=3,  # type: ignore[no-untyped-def]
    ) -> None:
        self.food = food
        self.weight = food.weight
        self.later = None if later is None else later.construct()


@Animal.register("lion")
class Lion(Cat):
    def __init__(self, mane: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)


@Animal.register("open")
class Open(Animal):
    def __init__(self, **kwargs: Any) -> None:
        self.options = kwargs


@Animal.register("ghost")
class Ghost(Animal):
    @classmethod
    def from_params(cls, params: Params, **extras: Any) -> "Ghost":  # type: ignore[override]
        params.clear()
        return cls()


Activation.register("purr")(
    NamedTuple("Purr", [("volume", float)])
)  # its `__init__` has no `__module__`
FOOD = {"weight": 1}


def problems(**keys: Any) -> list[str]:
    """Those of a config with one object, an animal."""
    config = {"cat": {"food": FOOD, **keys}}
    params = Params(json.loads(json.dumps(config))).pop("cat")
    try:
        Animal.from_params(params)
    except Exception as error:
        return [str(one) for one in problems_of(error, Location(config, "cat"))]
    return []


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {
            "type": "cat",
            "lives": 3,
            "name": "Tom",
            "prey": [FOOD, {"weight": 2.5, "salt": True}],
        },
        {"name": None, "prey": None, "untyped": {"type": "x"}},
        {
            "friends": {
                "any name": "ghost",
                "b": {"type": "ghost", "unknown": 1},
                "c": {"food": FOOD},
            }
        },
        {"home": ["barn", 2], "voice": "relu", "size": [1, 2.5]},
        {
            "voice": {"type": "leaky_relu", "negative_slope": 0.1},
            "later": {"weight": 1, "salt": True},
            "size": 3,
        },
        {"type": "lion", "mane": 1, "lives": 3},
        {"type": "open", "unknown": 3},
        {"voice": {"type": "purr", "volume": 2.0}},
        {"food": {"weight": 1, "lr": -1}},
    ],
)
def test_no_false_alarm(keys: dict[str, Any]) -> None:
    assert problems(**keys) == []


@pytest.mark.parametrize(
    ("keys", "path", "text"),
    [
        ({"live": 3}, "live", "nearest: lives"),
        ({"type": "gost"}, "type", "nearest: ghost"),
        ({"food": {}}, "food.weight", "Food requires it"),
        ({"prey": [FOOD, {"weight": 1, "sald": 1}]}, "prey.1.sald", "nearest: salt"),
        (
            {"friends": {"x": {"type": "dog"}}},
            "friends.x.type",
            "(cat, ghost, lion, open; --include-package",
        ),
        ({"home": ["barn", "x"]}, "home.1", "an integer"),
        ({"size": {"x": 1}}, "size", "Union[float, "),
        (
            {"voice": {"type": "relu", "inplac": True}},
            "voice.inplac",
            "nearest: inplace",
        ),
        ({"food": 3}, "food", "an object (Food), got 3"),
        ({"later": {"weight": "x"}}, "later.weight", "a number"),
        ({"food": None}, "food", "a value other than null"),
    ],
)
def test_each_kind_of_problem(keys: dict[str, Any], path: str, text: str) -> None:
    (found,) = problems(**keys)
    assert found.startswith(f"cat.{path}: expected ") and text in found
