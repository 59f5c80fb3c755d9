"""The lines in which `elmo-tasks bilm` prints perplexities."""

import re

from elmo_tasks.errors import escaped
from elmo_tasks.pretraining.export import TrainedModel
from elmo_tasks.pretraining.scores.perplexity import PerplexityReport

HEADER = (
    f"{'tokens':>12} {'<UNK> %':>8} {'forward':>9} {'backward':>9} {'mean':>9}"
    f" {'arithm.':>9}  file"
)

_NOT_IN_A_CELL = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]")


def weights_line(trained: TrainedModel) -> str:
    """What was measured, and the perplexity by chance."""
    words = f"{len(trained.vocabulary):,}"
    return (
        f"weights of {trained.source}, {words} words; a uniform guess has the "
        f"perplexity {words}"
    )


def perplexity_line(name: str, found: PerplexityReport) -> str:
    """A line below `HEADER`."""
    perplexities = " ".join([f"{value:>9.3f}" for value in found[:4]])
    counts = f"{found.tokens // 2:>12,} {100 * found.unknown_share:>8.2f}"
    return f"{counts} {perplexities}  {cell(name)}"


def cell(text: str) -> str:
    """
    A text in one cell of a table: what would end the cell, or is no Unicode, is
    escaped. Names of files and of groups can contain both.
    """
    return _NOT_IN_A_CELL.sub(escaped, text)
