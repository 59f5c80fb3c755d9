"""What scores mean by their names: which are shares of 1, and how they are shown."""

from typing import NamedTuple


class Metric(NamedTuple):
    """
    A score `is_share` if it is between 0 and 1, and 1 is perfect: it is shown in
    percent, and 100 - score is an error, of which an increase is a part.
    """

    is_share: bool = False
    digits: int = 3
    higher_is_better: bool = True

    def shown(self, score: float) -> float:
        """The number that stands for a score."""
        return 100 * score if self.is_share else score

    def text(self, number: float) -> str:
        """A number of `shown`, such as `84.6`."""
        return f"{number:.{self.digits}f}"

    def signed(self, difference: float) -> str:
        """A difference of two numbers, such as `+0.3`."""
        return f"{round(difference, self.digits) + 0.0:+.{self.digits}f}"


SHARE = Metric(is_share=True, digits=1)

METRICS = {
    **dict.fromkeys(("f1", "accuracy", "em", "precision", "recall"), SHARE),
    **dict.fromkeys(("best_epoch", "passes"), Metric(digits=1)),
    "loss": Metric(higher_is_better=False),
    "perplexity": Metric(digits=1, higher_is_better=False),
    "perplexity_before": Metric(digits=1, higher_is_better=False),
}
"""By name, for which a task of one's own may add others."""


def metric_of(name: str) -> Metric:
    """
    The metric of a score: that of `f1` is also that of `f1-PER`, `muc_f1` and
    `aside_f1`. A name that `METRICS` does not have is no share of 1.
    """
    name, _, _ = name.partition("-")
    _, _, last = name.rpartition("_")
    return METRICS.get(name) or METRICS.get(last) or Metric()
