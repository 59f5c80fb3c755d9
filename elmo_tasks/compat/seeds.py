"""A patch of `allennlp.training.util`: one `seed` in a config."""

import functools
from typing import Any

from allennlp.commands import find_learning_rate
from allennlp.common import Params
from allennlp.training import util as training_util

from elmo_tasks.errors import InputError

SEED = "seed"
SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")
"""AllenNLP's keys for Python, NumPy and PyTorch."""

LIMIT = 2**32
"""NumPy's limit."""


def spread_seed(params: Params) -> None:
    """Replaces the key `seed` of a config by AllenNLP's three. Raises `InputError` if it is invalid."""
    seed = params.pop(SEED, None)
    if seed is None:
        return
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < LIMIT:
        raise InputError(f"seed: expected an integer from 0 to {LIMIT - 1}, got {seed!r}")
    if given := [key for key in SEEDS if key in params]:
        raise InputError(f"seed sets {', '.join(SEEDS)}; got {', '.join(given)}, too", hint="remove one of them")
    for key in SEEDS:
        params[key] = seed


def accept_one_seed() -> None:
    """
    Accepts `seed` in a config, or in `-o '{"seed": 5}'`.

    AllenNLP has three keys, each with its own default. `config.json` has the three, so that an archive does not need
    the patch. It can go when AllenNLP has one key.
    """
    create = training_util.create_serialization_dir

    @functools.wraps(create)
    def create_serialization_dir(params: Params, *arguments: Any, **options: Any) -> None:
        spread_seed(params)  # before the config is written
        create(params, *arguments, **options)

    training_util.create_serialization_dir = create_serialization_dir
    find_learning_rate.create_serialization_dir = create_serialization_dir
