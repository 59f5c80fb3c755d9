"""The ranges of numbers in a config, by the names of their keys: the same for all classes."""

import math
import re
from collections.abc import Iterator

from elmo_tasks.training.checks.problem import Problem, below, items, shown

SIZES = re.compile(
    r"(.*\.)?(batch_size|num_layers|num_filters|num_gradient_accumulation_steps|batches_per_epoch|steps_per_epoch"
    r"|unroll|(input|hidden|feature|feedforward|pool)_sizes?|(embedding|projection|input|output|hidden)_dims?"
    r"|ngram_filter_sizes|max_span_width|max_span_length|max_antecedents|max_instances|max_tokens"
    r"|keep_most_recent_by_count)(\.\d+)?"
    r"|trainer\.(num_epochs|patience)"
)
DROPOUTS = re.compile(r"(.*\.)?(\w+_)?dropout(_rate)?(\.\d+)?")
FACTORS = re.compile(
    r"(.*\.)?(lr|weight_decay|weight_l2|l2|alpha|eps|padding_noise|num_workers|grad_norm|grad_clipping)(\.\d+)?"
)


def range_problems(path: str, value: object) -> Iterator[Problem]:
    """Problems of a number, or of the numbers in a list."""
    for place, part in items(value) if isinstance(value, list) else ():
        yield from range_problems(below(path, place), part)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    expected = None
    if SIZES.fullmatch(path) and value < 1:
        expected = "an integer of at least 1"
    elif DROPOUTS.fullmatch(path) and not 0 <= value < 1:
        expected = "a number of at least 0 and below 1"
    elif FACTORS.fullmatch(path) and not 0 <= value < math.inf:
        expected = "a number of at least 0"
    if expected:
        yield Problem(path=path, expected=expected, got=shown(value))
