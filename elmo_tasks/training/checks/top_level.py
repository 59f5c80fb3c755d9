"""
The keys of a whole config, of which AllenNLP's training reads some, and the commands
`train` and `evaluate` others.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Optional

from allennlp.commands.train import TrainModel
from allennlp.common import FromParams, Params
from allennlp.evaluation import Evaluator

from elmo_tasks.settings import Device, Seed, checked, not_empty
from elmo_tasks.training.checks.blame import (
    Location,
    blamed,
    keys_of,
    problems_of,
    unknown_key,
)
from elmo_tasks.training.checks.files import DATA_PATHS, data_path_problems
from elmo_tasks.training.checks.problem import Problem, shown
from elmo_tasks.training.nested import OBJECTS, below, get

REQUIRED = ("dataset_reader", "train_data_path", "model", "data_loader", "trainer")
"""Keys without which AllenNLP trains nothing."""

NOT_DISTRIBUTED = {
    "evaluate_on_test": "false with distributed: only the first process would evaluate (use elmo-tasks evaluate)",
    "trainer.checkpointer.save_every_num_seconds": "save_every_num_batches with distributed",
}
"""
Keys with which several processes fail or wait for each other, and what to set instead.
"""


class Distributed(FromParams):
    """
    Training with several processes.

    # Parameters

    - `cuda_devices`: one device for each process of a node: numbers of GPUs, or -1 for
      each CPU process.
    """

    @checked
    def __init__(
        self,
        cuda_devices: Annotated[list[Device], not_empty],
        ddp_accelerator: Any = None,
    ) -> None: ...


class WithTraining(FromParams):
    """
    The keys of a config that `elmo-tasks train` and `evaluate` read themselves, and one
    of AllenNLP's training with few valid values.
    """

    @checked
    def __init__(
        self,
        distributed: Optional[Distributed] = None,
        evaluation: Optional[Evaluator] = None,
        include_in_archive: Annotated[Optional[list[str]], "files"] = None,
        datasets_for_vocab_creation: Annotated[
            Optional[list[Literal["train", "validation", "test"]]], "splits"
        ] = None,
        seed: Optional[Seed] = None,
        random_seed: Optional[Seed] = None,
        numpy_seed: Optional[Seed] = None,
        pytorch_seed: Optional[Seed] = None,
    ) -> None: ...


BESIDE_TRAINING = (
    "distributed",
    "evaluation",
    "include_in_archive",
    "seed",
    "random_seed",
    "numpy_seed",
    "pytorch_seed",
)
"""Keys that AllenNLP's training does not take."""


GIVEN_TO_TRAINING = {"serialization_dir", "local_rank", "ddp_accelerator"}
"""What AllenNLP's training gets in addition to the config."""


def of_training(config: Mapping[str, Any]) -> dict[str, Any]:
    """
    The keys of a config that AllenNLP's training takes. "None" is null, as it is for
    AllenNLP.
    """
    copied = Params(copy.deepcopy(dict(config))).as_dict(quiet=True)
    kept = {key: copied[key] for key in copied if key not in BESIDE_TRAINING}
    if kept.get("type") == "elmo_tasks":  # which calls this check
        del kept["type"]
    return kept


def top_level_problems(config: Mapping[str, Any]) -> list[Problem]:
    """The problems of the keys of the whole config, without its parts."""
    known = (*BESIDE_TRAINING, "datasets_for_vocab_creation")
    given = {key: copy.deepcopy(config[key]) for key in known if key in config}
    problems = []
    try:
        WithTraining.from_params(Params(given))
    except Exception as error:
        problems = problems_of(error, Location(config))
    problems += _unknown_keys(config)
    for key in REQUIRED:
        if config.get(key) is None:
            problems.append(Problem(key, "a value: a training requires it", "none"))
    for key in OBJECTS:
        value = config.get(key)
        is_part = isinstance(value, Mapping) or (isinstance(value, str) and value)
        if key not in known and value is not None and not is_part:
            expected = "an object, or the name of a class"
            problems.append(Problem(key, expected, shown(value)))
    for key in DATA_PATHS:
        problems += _of_data_path(key, config.get(key))
    if config.get("distributed") is not None:
        for path, instead in NOT_DISTRIBUTED.items():
            value = get(config, path)
            if value:
                problems.append(Problem(path, instead, shown(value)))
    elif config.get("evaluate_on_test") and not config.get("test_data_path"):
        wanted = "false without a test_data_path"
        problems.append(Problem("evaluate_on_test", wanted, "true"))
    return problems


def _unknown_keys(config: Mapping[str, Any]) -> Iterator[Problem]:
    """The keys that neither AllenNLP's training nor our commands take."""
    if config.get("type") not in (None, "default", "elmo_tasks"):
        return
    of_training = keys_of(TrainModel, TrainModel.from_partial_objects)
    known = {"type", *of_training, *BESIDE_TRAINING} - GIVEN_TO_TRAINING
    for key in config:
        if key not in known:
            yield unknown_key("", key, TrainModel, known)


def require_valid_evaluation(config: Mapping[str, Any]) -> None:
    """
    Raises `InputError` for invalid keys of a trained model's config that its evaluation
    reads itself: the evaluator and the seeds.
    """
    known = ("evaluation", "random_seed", "numpy_seed", "pytorch_seed")
    given = {key: copy.deepcopy(config[key]) for key in known if key in config}
    with blamed(config):
        WithTraining.from_params(Params(given))


def _of_data_path(key: str, value: Any) -> list[Problem]:
    if value is None:
        return []
    found = data_path_problems(value)
    if found is None:
        return []
    if isinstance(found, str):
        return [Problem(key, found, shown(value))]
    return [
        Problem(below(key, one.key), one.expected, shown(one.value)) for one in found
    ]
