"""One `seed` in a config, for AllenNLP's three keys."""

from typing import Any

from allennlp.common import Params

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Seed, require_none, wrong_values

SEED = "seed"
SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")
"""AllenNLP's keys for Python, NumPy and PyTorch."""


def spread_seed(params: Params) -> None:
    """
    Replaces the key `seed` of a config by AllenNLP's three. Raises `InputError` if it
    is invalid.
    """
    seed = params.pop(SEED, None)
    if seed is not None:
        given = [key for key in SEEDS if key in params]
        if given:
            problem = f"seed sets {', '.join(SEEDS)}, but the config also has {', '.join(given)}"
            raise InputError(problem, hint="remove one of them")
        _require_valid(SEED, seed)
        params.params.update(dict.fromkeys(SEEDS, seed))
    for key in SEEDS:
        value = params.get(key)
        if value is not None:
            _require_valid(key, value)


def _require_valid(key: str, seed: Any) -> None:
    """Raises `InputError` for a seed that NumPy does not take."""
    require_none(wrong_values(key, Seed, seed))
