"""One `seed` in a config, for AllenNLP's three keys."""

from allennlp.common import Params

from elmo_tasks.errors import InputError

SEED = "seed"
SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")
"""AllenNLP's keys for Python, NumPy and PyTorch."""

LIMIT = 2**32
"""NumPy's limit."""


def spread_seed(params: Params) -> None:
    """Replaces the key `seed` of a config by AllenNLP's three. Raises `InputError` if it is invalid."""
    seed = params.pop(SEED, None)
    if seed is not None and (given := [key for key in SEEDS if key in params]):
        raise InputError(f"seed sets {', '.join(SEEDS)}; got {', '.join(given)}, too", hint="remove one of them")
    given_seeds = {key: params.get(key) for key in SEEDS if key in params} if seed is None else {SEED: seed}
    for key, value in given_seeds.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < LIMIT):
            raise InputError(f"{key}: expected an integer from 0 to {LIMIT - 1}, got {value!r}")
    if seed is not None:
        for key in SEEDS:
            params[key] = seed
