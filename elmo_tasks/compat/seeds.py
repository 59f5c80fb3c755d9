"""One `seed` in a configuration."""

import functools
import os
from collections.abc import Callable

from allennlp.commands import find_learning_rate
from allennlp.common import Params
from allennlp.training import util as training_util

from elmo_tasks.errors import InputError

SEED = "seed"
SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")
"""AllenNLP's keys, of Python's, NumPy's and PyTorch's random numbers."""

LIMIT = 2**32
"""NumPy takes no larger seed."""


def spread_seed(params: Params) -> None:
    """
    Replaces the key `seed` of a whole configuration, where it is given, by AllenNLP's three.

    # Raises

    InputError
        where it is no integer from 0 to 2^32 - 1, or one of the three is given besides.
    """
    seed = params.pop(SEED, None)
    if seed is None:
        return
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < LIMIT:
        raise InputError(f"seed must be an integer from 0 to {LIMIT - 1}, found {seed!r}")
    if given := [key for key in SEEDS if key in params]:
        raise InputError(
            f"seed sets {', '.join(SEEDS)}; found {', '.join(given)} besides", hint="leave one of them out"
        )
    for key in SEEDS:
        params[key] = seed


def with_one_seed(create: Callable[..., None]) -> Callable[..., None]:
    """`create_serialization_dir`, the first step of a training, which sees the configuration before it is written."""

    @functools.wraps(create)
    def create_serialization_dir(
        params: Params, serialization_dir: str | os.PathLike[str], recover: bool, force: bool
    ) -> None:
        spread_seed(params)
        create(params, serialization_dir, recover, force)

    vars(create_serialization_dir)["spreads_seed"] = True
    return create_serialization_dir


def accept_one_seed() -> None:
    """
    Lets a configuration have `seed` at its top, or `-o '{"seed": 5}'` give it.

    AllenNLP has three keys, each with a default of its own, and refuses others. `config.json` has the
    three, so that an archive needs nothing of this. It can go when AllenNLP has one.
    """
    if hasattr(training_util.create_serialization_dir, "spreads_seed"):
        return
    training_util.create_serialization_dir = with_one_seed(training_util.create_serialization_dir)
    find_learning_rate.create_serialization_dir = training_util.create_serialization_dir
