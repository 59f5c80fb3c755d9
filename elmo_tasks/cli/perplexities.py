"""The lines in which `elmo-tasks bilm` prints perplexities."""

from elmo_tasks.pretraining.evaluation import PerplexityReport
from elmo_tasks.pretraining.export import TrainedModel

HEADER = (
    f"{'tokens':>12} {'<UNK> %':>8} {'forward':>9} {'backward':>9} {'mean':>9}"
    f" {'arithm.':>9}  file"
)


def weights_line(trained: TrainedModel) -> str:
    """What was measured, and the perplexity by chance."""
    words = f"{len(trained.vocabulary):,} words, the perplexity of a uniform guess"
    return f"weights of {trained.source}, {words}"


def perplexity_line(name: str, found: PerplexityReport) -> str:
    """A line below `HEADER`."""
    perplexities = " ".join([f"{value:>9.3f}" for value in found[:4]])
    counts = f"{found.tokens // 2:>12,} {100 * found.unknown_share:>8.2f}"
    return f"{counts} {perplexities}  {name}"
