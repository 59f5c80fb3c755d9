"""The checks of a config before its training reads data."""

import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.util import prepare_environment
from allennlp.training import GradientDescentTrainer
from overrides import overrides

from elmo_tasks.elmo.layers import opened_models
from elmo_tasks.elmo.models.record import record_models
from elmo_tasks.errors import InputError
from elmo_tasks.resources import fixtures_root
from elmo_tasks.training.checks.construct import check
from elmo_tasks.training.config import SEED, get, spread_seed, write_out_types
from elmo_tasks.training.distributed import process_rank
from elmo_tasks.training.folder import (
    has_checkpoint,
    record_inputs,
    require_same_data,
    use_vocabulary,
)
from elmo_tasks.training.vocabulary import labels_of

logger = logging.getLogger(__name__)

VERIFIED = "elmo_tasks_verified"


@TrainModel.register(VERIFIED, constructor="from_partial_objects")
class VerifiedTrainModel(TrainModel):
    """
    AllenNLP's training, which records the frozen models in the folder of the run, with
    any trainer, and warns of patterns of parameters that match none, and of labels that
    the training data lack.
    """

    @classmethod
    @overrides
    def from_params(
        cls, params: Params, *arguments: Any, **extras: Any
    ) -> "VerifiedTrainModel":
        patterns = patterns_of(params.params)
        training = super().from_params(params, *arguments, **extras)
        names = [name for name, _ in training.model.named_parameters()]
        for key, pattern in patterns:
            if not any(re.search(pattern, name) for name in names):
                logger.warning("%s: %s matches no parameter", key, pattern)
        if isinstance(training.trainer, GradientDescentTrainer):
            warn_of_other_labels(training, training.trainer)
        if process_rank() == 0 and training.serialization_dir:
            folder = Path(training.serialization_dir)
            if not has_checkpoint(folder):
                record_models(folder, opened_models(training.model))
        return training


@TrainModel.register("elmo_tasks", constructor="from_partial_objects")
class CheckedTrainModel(VerifiedTrainModel):
    """
    AllenNLP's training with the same keys, and `seed`, for a config with `type:
    "elmo_tasks"`: AllenNLP constructs the model after reading all data, this reports
    all problems of the config before. `elmo-tasks train` checks by itself.

    # Parameters

    - `dataset_reader`: reads the training data and, unless there is another reader for
      them, the validation and test data.
    - `train_data_path`: file, folder or pattern of the training data.
    - `model`: the model to train.
    - `data_loader`: makes batches of the training data.
    - `trainer`: how the model is trained.
    - `vocabulary`: how the vocabulary is made; by default from the instances.
    - `datasets_for_vocab_creation`: which of `train`, `validation` and `test` the
      vocabulary is made from; null: all.
    - `validation_dataset_reader`: reads the validation and test data.
    - `validation_data_path`: file, folder or pattern of the validation data, which
      choose the best epoch.
    - `validation_data_loader`: makes batches of the validation and test data; null: as
      `data_loader`.
    - `test_data_path`: file, folder or pattern of the test data.
    - `evaluate_on_test`: if true, score the test data after training. Not with
      `distributed`.
    - `batch_weight_key`: output of the model that weights the loss of a batch in that
      score; empty: all batches count the same.
    - `distributed`: trains with several processes; see the section below.
    - `evaluation`: how `elmo-tasks evaluate` writes predictions.
    - `include_in_archive`: further files of the run's folder that go into the archive.
    - `seed`: sets the three seeds below.
    - `random_seed`: seed of Python's `random`.
    - `numpy_seed`: seed of NumPy.
    - `pytorch_seed`: seed of PyTorch.
    """

    @classmethod
    @overrides
    def from_params(
        cls, params: Params, *arguments: Any, **extras: Any
    ) -> "CheckedTrainModel":
        """
        Raises `InputError` for an invalid config, and if a run would be resumed with
        other data than it began with.
        """
        has_seed = SEED in params
        if has_seed:
            spread_seed(params)
        write_out_types(params.params)
        config = params.as_dict(quiet=True)
        require_sound(config)
        folder = Path(extras["serialization_dir"])
        if has_checkpoint(folder):
            require_same_data(folder, config)
            use_vocabulary(params, folder)
        elif extras["local_rank"] == 0:
            record_inputs(folder, config)
        if has_seed:
            prepare_environment(params)
        return super().from_params(params, *arguments, **extras)


def warn_of_other_labels(training: TrainModel, trainer: GradientDescentTrainer) -> None:
    """Warns of labels in the validation and test data that the training data lack."""
    labels = labels_of(trainer._validation_data_loader)
    labels |= labels_of(training.evaluation_data_loader)
    if not labels:  # the training data, perhaps large, need not be read
        return
    labels -= labels_of(trainer.data_loader)
    names = [one for one in labels if one and isinstance(one, str)]
    if names:
        problem = "the model cannot learn labels that the training data do not have"
        logger.warning("%s: %s", problem, ", ".join(sorted(names)))


def patterns_of(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """
    The regular expressions of parameters of which AllenNLP does not say if they match
    none, with their keys.
    """
    found = [("trainer.no_grad", one) for one in get(config, "trainer.no_grad") or ()]
    for pattern, _ in get(config, "model.regularizer.regexes") or ():
        found.append(("model.regularizer", pattern))
    return found


def is_bundled(config: Mapping[str, Any]) -> bool:
    """Whether a config trains on the bundled corpus."""
    data = os.path.abspath(str(config.get("train_data_path")))
    return Path(data).is_relative_to(fixtures_root())


def is_ours(config: Mapping[str, Any]) -> bool:
    """
    Whether a config trains a model of this package, or one that is misspelt or has no
    name at all.
    """
    name = config.get("model")
    if isinstance(name, Mapping):
        name = name.get("type")
    return not isinstance(name, str) or name.startswith(("elmo_tasks.", "elmo_tasks_"))


def require_sound(config: Mapping[str, Any]) -> None:
    """Raises `InputError`, which lists the problems that `check` finds."""
    problems = check(config).problems
    if not problems:
        return
    count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
    first = f"the config has {count}, nothing was written:"
    raise InputError("\n  ".join([first, *problems]))
