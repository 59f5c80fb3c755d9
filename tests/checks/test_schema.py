"""Keys, types and names of a config beside the signatures: nothing missed, no false alarm."""

import copy
import json
from pathlib import Path
from typing import Any, Literal

import pytest
from allennlp.common import FromParams, Lazy, Params, Registrable
from allennlp.nn import Activation

from elmo_tasks import settings
from elmo_tasks.checks import Problem, object_problems, shape_problems
from tests.test_configs import CONFIGS, FOLDER


def resolved(name: str, **overrides: Any) -> dict[str, Any]:
    return dict(Params.from_file(FOLDER / f"{name}.jsonnet", json.dumps(overrides)).as_dict(quiet=True))


@pytest.mark.parametrize("scale", settings.SCALES)
@pytest.mark.parametrize("name", CONFIGS)
def test_every_config_is_clean_at_every_scale(
    name: str, scale: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(settings.SCALE_VARIABLE, scale)
    monkeypatch.setenv(settings.DATA_VARIABLE, str(tmp_path))
    assert shape_problems(resolved(name)) == []


def test_unknown_keys_are_told_apart_and_the_config_stays_as_it_is() -> None:
    trainer = {"trainer.type": "gradient_descent", "trainer.num_epoch": 3}
    config = resolved("ner", **trainer, **{"trainer.num_epochs": "many", "model.x": {"y": 1}})
    before = copy.deepcopy(config)
    found = [problem for problem in shape_problems(config) if problem.kind == "key"]
    assert [problem.path for problem in found] == ["model.x", "trainer.num_epoch"]
    wanted = "trainer.num_epoch: wanted a key of GradientDescentTrainer"
    assert str(found[1]) == f"{wanted}, found the unknown key num_epoch; nearest: num_epochs"
    assert config == before


class Animal(Registrable):
    default_implementation = "cat"


class Food(FromParams):
    def __init__(self, weight: float, salt: bool = False) -> None:
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
        mood: Literal["good", "bad"] = "good",
        voice: Activation | None = None,
        size: float | list[float] = 1.0,
        later: Lazy[Food] | None = None,
        anything: Any = None,
        untyped=3,  # type: ignore[no-untyped-def]
        written: "int" = 3,
    ) -> None:
        self.food = food


@Animal.register("ghost")
class Ghost(Animal):
    @classmethod
    def from_params(cls, params: Params, **extras: Any) -> "Ghost":  # type: ignore[override]
        params.clear()
        return cls()


FOOD = {"weight": 1}


def problems(**keys: Any) -> list[str]:
    return [str(problem) for problem in object_problems("cat", {"food": FOOD, **keys}, Animal, frozenset())]


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"type": "cat", "lives": 3, "name": "Tom", "prey": [FOOD, {"weight": 2.5, "salt": True}]},
        {"name": None, "prey": None, "untyped": "x", "written": "x", "anything": {"x": [None]}},
        {"friends": {"any name": "ghost", "b": {"type": "ghost", "unknown": 1}, "c": {"food": FOOD}}},
        {"home": ["barn", 2], "mood": "bad", "voice": "relu", "size": [1, 2.5]},
        {"voice": {"type": "leaky_relu", "negative_slope": 0.1}, "later": {"salt": True}, "size": 3},
        {"type": f"{__name__}.Cat"},
        {"food": {"_pretrained": {"archive_file": "x", "module_path": "y"}}},
    ],
)
def test_no_false_alarm(keys: dict[str, Any]) -> None:
    assert problems(**keys) == []


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"live": 3}, "cat.live: wanted a key of Cat, found the unknown key live; nearest: lives"),
        ({"typ": "dog"}, "cat.typ: wanted a key of Cat, found the unknown key typ; nearest: type"),
        ({"type": "gost"}, 'cat.type: wanted the name of an Animal, found "gost"; nearest: ghost'),
        ({"type": "xyz"}, 'cat.type: wanted the name of an Animal (cat, ghost), found "xyz"'),
        ({"type": 3}, "cat.type: wanted the name of an Animal, found 3"),
        ({"lives": "9"}, 'cat.lives: wanted a whole number, found "9"'),
        ({"lives": 2.5}, "cat.lives: wanted a whole number, found 2.5"),
        ({"lives": True}, "cat.lives: wanted a whole number, found true"),
        ({"name": 3}, "cat.name: wanted a string, found 3"),
        ({"food": None}, "cat.food: wanted an object (Food), found null"),
        ({"food": True}, "cat.food: wanted an object (Food), found true"),
        ({"food": {}}, "cat.food.weight: wanted a value: Food needs it, found none"),
        ({"food": {"weight": 1, "salt": 2}}, "cat.food.salt: wanted true or false, found 2"),
        ({"prey": FOOD}, 'cat.prey: wanted a list, each part an object (Food), found {"weight": 1}'),
        ({"prey": [FOOD, {"weight": 1, "sald": 1}]}, "cat.prey.1.sald: wanted a key of Food, found the unknown key "
         "sald; nearest: salt"),
        ({"friends": {"x": {"type": "dog"}}}, "cat.friends.x.type: wanted the name of an Animal (cat, ghost), "
         'found "dog"'),
        ({"home": ["barn"]}, 'cat.home: wanted a list of 2, found ["barn"]'),
        ({"home": ["barn", "x"]}, 'cat.home.1: wanted a whole number, found "x"'),
        ({"mood": "sad"}, 'cat.mood: wanted one of "good", "bad", found "sad"'),
        ({"voice": {"type": "relu", "inplac": True}}, "cat.voice.inplac: wanted a key of ReLU, found the unknown key "
         "inplac; nearest: inplace"),
        ({"size": "big"}, 'cat.size: wanted a number or a list, each part a number, found "big"'),
        ({"size": [1, "big"]}, 'cat.size.1: wanted a number, found "big"'),
        ({"later": {"sald": 1}}, "cat.later.sald: wanted a key of Food, found the unknown key sald; nearest: salt"),
        ({"type": "no.such.module.Cat"}, 'cat.type: wanted the name of an Animal, found "no.such.module.Cat": tried to '
         "interpret no.such.module.Cat as a path to a class but unable to import module no.such.module"),
    ],
)  # fmt: skip
def test_each_kind_of_problem(keys: dict[str, Any], message: str) -> None:
    assert problems(**keys) == [message]


@pytest.mark.parametrize(
    ("overrides", "paths"),
    [
        ({"model.elmo": True}, ["model.elmo"]),
        ({"model.elmo.at": "imput", "model.elmo.dropout": "x"}, ["model.elmo.at", "model.elmo.dropout"]),
        ({"model.elmo.mx": 1, "model.elmo.mix": "layer"}, ["model.elmo.mix", "model.elmo.mx"]),
        ({"model.elmo.type": "elmo_tasks"}, []),
        ({"model.elmo": None}, []),
        ({"data_loader.batch_sampler.batch_size": 0}, ["data_loader.batch_sampler.batch_size"]),
        ({"model.input_dropout": 1.0, "model.encoder.hidden_sizes": [3, 0]},
         ["model.encoder.hidden_sizes.1", "model.input_dropout"]),
        ({"trainer.patience": 0}, ["trainer.patience"]),
        ({"trainer.learning_rate_scheduler": {"type": "reduce_on_plateau", "patience": 0}}, []),
        ({"trainer.optimizer.lr": -1}, ["trainer.optimizer.lr"]),
        ({"seed": 5, "numpy_seed": "x"}, ["numpy_seed"]),
        ({"random_sed": 1, "random_seed": 2, "evaluation": {"tpe": 1}}, ["evaluation.tpe", "random_sed"]),
        ({"trainer.optimizer.parameter_groups": [[["a"], {"lrr": 1, "layer": 3}]]},
         ["trainer.optimizer.parameter_groups.0.1.lrr"]),
        ({"trainer.optimizer.parameter_groups": ["a", [["b"], {}], ["c", {}], [["d"]]]},
         [f"trainer.optimizer.parameter_groups.{place}" for place in (0, 2, 3)]),
        ({"trainer.optimizer.lr": None, "distributed": 2}, ["trainer.optimizer.lr", "distributed"]),
        ({"distributed": {"cuda_devices": [0, 1], "port": 3}}, ["distributed.port"]),
        ({"distributed": {"cuda_devices": [0], "num_nodes": 2}}, []),
        ({"distributed": {"cuda_devices": [0, 1], "num_nodes": 2, "primary_address": "10.0.0.1"}},
         ["distributed.primary_port"]),
        ({"distributed": {"cuda_devices": [0, 1]}, "evaluate_on_test": True,
          "trainer.checkpointer": {"save_every_num_seconds": 60}},
         ["trainer.checkpointer.save_every_num_seconds", "evaluate_on_test"]),
        ({"trainer.checkpointer": None, "trainer.patience": "None"}, []),
    ],
)  # fmt: skip
def test_paths_in_our_configs(overrides: dict[str, Any], paths: list[str]) -> None:
    assert [problem.path for problem in shape_problems(resolved("ner_elmo", **overrides))] == paths


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"distributed": {"cuda_devices": [0, 1]}}, []),
        ({"distributed": {"cuda_devices": [0, 1, 2]}}, [("data_loader", 32, 3), ("validation_data_loader", 32, 3)]),
        ({"distributed": {"cuda_devices": [0, 1], "num_nodes": 4}, "data_loader.batch_size": 12},
         [("data_loader", 12, 8)]),
    ],
)  # fmt: skip
def test_processes_share_the_rows_of_the_language_model(
    overrides: dict[str, Any], told: list[tuple[str, int, int]]
) -> None:
    assert [str(problem) for problem in shape_problems(resolved("bilm", **overrides))] == [
        f"{loader}.batch_size: wanted a multiple of the number of processes, {count}, found {size}"
        for loader, size, count in told
    ]


@pytest.mark.parametrize("config", [{}, {"model": []}, {"model": {}, "trainer": "x", "dataset_reader": None}])
def test_whatever_the_config_there_is_an_answer(config: dict[str, Any]) -> None:
    found = shape_problems(config)
    assert found and all(isinstance(problem, Problem) for problem in found)
