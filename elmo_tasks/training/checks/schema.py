"""Unknown keys, wrong types, unknown names and missing keys of a whole config."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.evaluation import Evaluator

from elmo_tasks.training.checks.objects import object_problems
from elmo_tasks.training.checks.problem import Problem, get, listed, shown, unknown_key
from elmo_tasks.training.seeds import SEED, SEEDS

GIVEN_TO_TRAINING = frozenset({"serialization_dir", "local_rank", "ddp_accelerator"})

BESIDE_TRAINING = ("distributed", "evaluation", "include_in_archive", SEED, *SEEDS)
"""Keys of a config that `elmo-tasks train` and `evaluate` read themselves."""

DISTRIBUTED = ("cuda_devices", "num_nodes", "primary_address", "primary_port", "ddp_accelerator")

NOT_DISTRIBUTED = {
    "evaluate_on_test": "false with distributed: only the first process would evaluate (use elmo-tasks evaluate)",
    "trainer.checkpointer.save_every_num_seconds": "save_every_num_batches with distributed",
}
"""Keys with which several processes fail or wait for each other, and what to set instead."""


def shape_problems(config: Mapping[str, Any]) -> list[Problem]:
    """
    Everything that the signatures of constructors tell about a config: unknown keys, wrong types, numbers out of range,
    unknown registered names, missing keys; sorted by path. No file is opened, nothing is constructed. Takes a resolved
    config, which is not modified.
    """
    plain = Params(copy.deepcopy(dict(config))).as_dict(quiet=True)  # "None" is null, as for AllenNLP
    if plain.get("type") == "elmo_tasks":  # which calls this check
        del plain["type"]
    separate = {key: plain.pop(key) for key in BESIDE_TRAINING if key in plain}
    problems = list(object_problems("", plain, TrainModel, GIVEN_TO_TRAINING, other_keys=BESIDE_TRAINING))
    if "evaluation" in separate:
        problems += object_problems("evaluation", separate["evaluation"], Evaluator, None)
    problems += _distributed_problems(separate.get("distributed"), plain)
    return sorted(problems, key=lambda problem: problem.path)


def _distributed_problems(given: Any, config: dict[str, Any]) -> Iterator[Problem]:
    if given is None:
        return
    if not isinstance(given, dict):
        yield Problem(path="distributed", expected=f"an object ({listed(DISTRIBUTED)})", got=shown(given))
        return
    devices, nodes = given.get("cuda_devices"), given.get("num_nodes", 1)
    if not isinstance(devices, list) or not devices or not all(type(device) is int for device in devices):
        yield Problem(path="distributed.cuda_devices", expected="a list of device numbers", got=shown(devices))
    if type(nodes) is not int or nodes < 1:
        yield Problem(path="distributed.num_nodes", expected="an integer of at least 1", got=shown(nodes))
    yield from (unknown_key(f"distributed.{key}", "distributed", DISTRIBUTED) for key in given.keys() - DISTRIBUTED)
    for path, expected in NOT_DISTRIBUTED.items():
        if value := get(config, path):
            yield Problem(path=path, expected=expected, got=shown(value))
