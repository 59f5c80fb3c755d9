"""One `seed` in a config, for AllenNLP's three keys."""

from allennlp.common import Params

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Seed, expected

SEED = "seed"
SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")
"""AllenNLP's keys for Python, NumPy and PyTorch."""


def spread_seed(params: Params) -> None:
    """Replaces the key `seed` of a config by AllenNLP's three. Raises `InputError` if it is invalid."""
    seed = params.pop(SEED, None)
    if seed is not None:
        if given := [key for key in SEEDS if key in params]:
            raise InputError(
                f"seed sets {', '.join(SEEDS)}; got {', '.join(given)}, too",
                hint="remove one of them",
            )
        params.params.update(dict.fromkeys(SEEDS, seed))
    for key in SEEDS:
        value = params.get(key)
        if value is not None and (wanted := expected(Seed, value)):
            raise InputError(
                f"{key if seed is None else SEED}: expected {wanted}, got {value!r}"
            )
