"""What a number may be that a config sets, told by its key: the same for classes of others and for ours."""

import math
import re
from collections.abc import Iterator

from elmo_tasks.checks.problem import Problem, shown

SIZES = re.compile(
    r"(batch_size|num_layers|num_filters|num_gradient_accumulation_steps|batches_per_epoch|steps_per_epoch|unroll"
    r"|(input|hidden|feature|feedforward|pool)_sizes?|(embedding|projection|input|output|hidden)_dims?"
    r"|ngram_filter_sizes|max_span_width|max_span_length|max_antecedents|max_instances|max_tokens)"
)
"""Keys of counts: whole numbers of at least 1."""

TRAINER_SIZES = re.compile(r"trainer\.(num_epochs|patience)")
"""The same by their paths, since elsewhere (`reduce_on_plateau`) 0 may be meant."""

DROPOUTS = re.compile(r"(\w+_)?dropout(_rate)?")
"""Keys of shares that are dropped."""

FACTORS = re.compile(r"(lr|weight_decay|weight_l2|l2|alpha|eps|padding_noise|grad_norm|grad_clipping)")
"""Keys of numbers that are never negative."""


def range_problems(path: str, value: object) -> Iterator[Problem]:
    """The problem of a number under this path, if there is one."""
    key = next((part for part in reversed(path.split(".")) if not part.isdigit()), "")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if (SIZES.fullmatch(key) or TRAINER_SIZES.fullmatch(path)) and value < 1:
        yield _problem(path, "a whole number of at least 1", value)
    elif DROPOUTS.fullmatch(key) and not 0 <= value < 1:
        yield _problem(path, "a number from 0 up to, not including, 1", value)
    elif FACTORS.fullmatch(key) and not 0 <= value < math.inf:
        yield _problem(path, "a number of at least 0", value)


def _problem(path: str, wanted: str, value: object) -> Problem:
    return Problem(path=path, wanted=wanted, found=shown(value), kind="value")
