"""
Keys, types and names of a config compared with the signatures of constructors: no
problem missed, no false alarm.
"""

import json
from typing import Any, NamedTuple

import pytest
from allennlp.common import FromParams, Lazy, Params, Registrable
from allennlp.nn import Activation

from elmo_tasks.tasks import TASKS
from elmo_tasks.training.checks.schema import object_problems, shape_problems
from tests.test_configs import FOLDER


def resolved(name: str, **overrides: Any) -> dict[str, Any]:
    return dict(
        Params.from_file(FOLDER / f"{name}.jsonnet", json.dumps(overrides)).as_dict(
            quiet=True
        )
    )


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
        name: str | None = None,
        prey: list[Food] | None = None,
        friends: dict[str, Animal] | None = None,
        home: tuple[str, int] = ("house", 1),
        voice: Activation | None = None,
        size: float | list[float] = 1.0,
        later: Lazy[Food] | None = None,
        untyped=3,  # type: ignore[no-untyped-def]
        written: "dict[str, Food] | None" = None,
    ) -> None:
        self.food = food


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
    return [
        str(problem)
        for problem in object_problems(
            "cat", {"food": FOOD, **keys}, Animal, frozenset()
        )
    ]


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
        {"name": None, "prey": None, "untyped": {"type": "x"}, "written": {"x": 1}},
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
            "later": {"salt": True},
            "size": 3,
        },
        {"type": "lion", "mane": 1, "lives": 3},
        {"type": "open", "unknown": 3},
        {"voice": {"type": "purr", "volume": 2.0}},
        {"food": {"weight": 1, "lr": -1}},
        {"food": {"_pretrained": {"archive_file": "x", "module_path": "y"}}},
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
        (
            {"voice": {"type": "relu", "inplac": True}},
            "voice.inplac",
            "nearest: inplace",
        ),
        ({"type": "subprocess.Popen"}, "type", "subprocess.Popen"),
    ],
)
def test_each_kind_of_problem(keys: dict[str, Any], path: str, text: str) -> None:
    (found,) = problems(**keys)
    assert found.startswith(f"cat.{path}: expected ") and text in found


@pytest.mark.parametrize(
    ("overrides", "paths"),
    [
        ({"model.elmo.mx": 1, "model.elmo.mix": "layer"}, ["model.elmo.mix", "model.elmo.mx"]),
        ({"trainer.learning_rate_scheduler": {"type": "reduce_on_plateau", "patience": 0}}, []),
        ({"trainer.checkpointer": None, "trainer.patience": "None", "trainer.grad_norm": None}, []),
        ({"model.encoder.hidden_sizes": None, "model.dropout": None, "model.elmo.l2": None},
         ["model.dropout", "model.encoder.hidden_sizes"]),
        ({"random_sed": 1, "random_seed": 2, "evaluation": {"tpe": 1}}, ["evaluation.tpe", "random_sed"]),
        ({"distributed": {"num_nodes": 2}}, ["distributed.cuda_devices", "distributed.num_nodes"]),
        ({"distributed": {"cuda_devices": [0, 1]}, "evaluate_on_test": True,
          "trainer.checkpointer": {"save_every_num_seconds": 60}},
         ["evaluate_on_test", "trainer.checkpointer.save_every_num_seconds"]),
    ],
)  # fmt: skip
def test_paths_of_problems_in_our_configs(
    overrides: dict[str, Any], paths: list[str]
) -> None:
    assert [
        problem.path for problem in shape_problems(resolved("ner_elmo", **overrides))
    ] == paths


@pytest.mark.parametrize("task", TASKS)
def test_keys_that_belong_to_elmo_may_stay_without_it(task: str) -> None:
    """And with ELMo at one place, where those of the other place have no effect."""
    for overrides in ({"model.elmo": None}, {"model.elmo.at": "input"}):
        found = shape_problems(resolved(f"{task}_elmo", **overrides))
        assert found == []


def test_no_registered_class_fails() -> None:
    found = set()
    for base, entries in list(Registrable._registry.items()):
        for name in entries:
            found |= {
                problem.got
                for problem in object_problems("", {"type": name}, base, frozenset())
            }
    assert found == {"none"}
