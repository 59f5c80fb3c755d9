"""
What the server has answered, and how busy its models are, in the text format of
Prometheus, version 0.0.4.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from elmo_tasks.web.models import ServedModel

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
"""The upper bounds of the histogram's buckets."""

OTHER = "other"
"""In place of a path that does not exist: a client can invent any number of them."""

Sample = tuple[str, dict[str, str], float]
"""What follows the name of a metric, its labels, and its value."""


class Histogram:
    """How many durations were up to each of `SECONDS`, and their sum."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(SECONDS, 0)
        self._count = 0
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Counts a duration."""
        self._count += 1
        self._sum += seconds
        for bound in SECONDS:
            if seconds <= bound:
                self._counts[bound] += 1

    def samples(self, labels: dict[str, str]) -> list[Sample]:
        """The buckets, the sum and the count."""
        found: list[Sample] = []
        for bound, count in self._counts.items():
            found.append(("_bucket", labels | {"le": f"{bound:g}"}, count))
        found.append(("_bucket", labels | {"le": "+Inf"}, self._count))
        found.append(("_sum", labels, self._sum))
        found.append(("_count", labels, self._count))
        return found


class Metrics:
    """The metrics of a server of these models."""

    def __init__(self, models: Mapping[str, ServedModel]) -> None:
        self._models = models
        self._answers: Counter[tuple[str, int]] = Counter()
        self._seconds = {name: Histogram() for name in models}

    def answered(self, path: str, status: int) -> None:
        """Counts an answer."""
        self._answers[path, status] += 1

    def predicted(self, name: str, seconds: float) -> None:
        """Counts the time of an answer of a model, also of an error."""
        self._seconds[name].add(seconds)

    def text(self) -> str:
        """All metrics."""
        answers: list[Sample] = []
        for (path, status), count in sorted(self._answers.items()):
            answers.append(("", {"path": path, "status": str(status)}, count))
        seconds: list[Sample] = []
        waiting: list[Sample] = []
        computing: list[Sample] = []
        up: list[Sample] = []
        restarts: list[Sample] = []
        for name, model in self._models.items():
            labels = {"model": name}
            workers = model.workers
            taken = [worker for worker in workers if worker.is_taken]
            answering = [worker for worker in workers if worker.is_up]
            restarted = sum([worker.restarts for worker in workers])
            seconds += self._seconds[name].samples(labels)
            waiting.append(("", labels, model.waiting))
            computing.append(("", labels, len(taken)))
            up.append(("", labels, len(answering)))
            restarts.append(("", labels, restarted))
        lines = [
            *_metric("requests_total", "counter", "Answers.", answers),
            *_metric(
                "prediction_seconds",
                "histogram",
                "From a request for a prediction to its answer, including the time it waits.",
                seconds,
            ),
            *_metric(
                "requests_waiting",
                "gauge",
                "Requests that wait for a free process of their model.",
                waiting,
            ),
            *_metric(
                "requests_computing",
                "gauge",
                "Requests that a process of their model computes.",
                computing,
            ),
            *_metric("workers", "gauge", "Processes that can answer.", up),
            *_metric(
                "worker_restarts_total",
                "counter",
                "Processes that were replaced because they were late, dead, or had grown.",
                restarts,
            ),
        ]
        return "".join(lines)


def _metric(name: str, kind: str, about: str, samples: Iterable[Sample]) -> list[str]:
    """The lines of a metric."""
    full = f"elmo_tasks_{name}"
    lines = [f"# HELP {full} {about}\n", f"# TYPE {full} {kind}\n"]
    for suffix, labels, value in samples:
        pairs = [f'{label}="{_escaped(text)}"' for label, text in labels.items()]
        lines.append(f"{full}{suffix}{{{','.join(pairs)}}} {value}\n")
    return lines


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
