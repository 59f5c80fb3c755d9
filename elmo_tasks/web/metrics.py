"""
What the server has answered, and how busy its models are, for Prometheus.
"""

from collections.abc import Collection, Iterator, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from elmo_tasks.web.models import ServedModel

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
"""The upper bounds of the histogram's buckets."""

OTHER = "other"
"""In place of a path that does not exist: a client can invent any number of them."""

CONTENT_TYPE = "text/plain; version=0.0.4"


class Metrics:
    """
    The metrics of a server of these models. `paths` are those that answers are counted
    for by name.
    """

    def __init__(self, models: Mapping[str, ServedModel]) -> None:
        disable_created_metrics()
        self.paths: Collection[str] = ()
        self._registry = CollectorRegistry()
        self._answers = Counter(
            "elmo_tasks_requests",
            "Answers.",
            ["path", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "elmo_tasks_prediction_seconds",
            "From a request for a prediction to its answer, including the time it waits.",
            ["model"],
            buckets=SECONDS,
            registry=self._registry,
        )
        for name in models:
            self._seconds.labels(name)
        self._registry.register(_States(models))

    def answered(self, path: str, status: int) -> None:
        """Counts an answer."""
        if path not in self.paths:
            path = OTHER
        self._answers.labels(path, str(status)).inc()

    def predicted(self, name: str, seconds: float) -> None:
        """Counts the time of an answer of a model, also of an error."""
        self._seconds.labels(name).observe(seconds)

    def text(self) -> bytes:
        """All metrics in the text format."""
        return generate_latest(self._registry)


class _States(Collector):
    """The state of the models when they are asked for."""

    def __init__(self, models: Mapping[str, ServedModel]) -> None:
        self._models = models

    def collect(self) -> Iterator[Metric]:
        """Each metric, with a sample of each model."""
        waiting = GaugeMetricFamily(
            "elmo_tasks_requests_waiting",
            "Requests that wait for a free process of their model.",
            labels=["model"],
        )
        computing = GaugeMetricFamily(
            "elmo_tasks_requests_computing",
            "Requests that a process of their model computes.",
            labels=["model"],
        )
        workers = GaugeMetricFamily(
            "elmo_tasks_workers", "Processes that can answer.", labels=["model"]
        )
        restarts = CounterMetricFamily(
            "elmo_tasks_worker_restarts",
            "Processes that were replaced because they were late, dead, or had grown.",
            labels=["model"],
        )
        for name, model in self._models.items():
            waiting.add_metric([name], model.waiting)
            computing.add_metric([name], model.computing)
            workers.add_metric([name], model.ready)
            restarts.add_metric([name], model.restarts)
        yield from (waiting, computing, workers, restarts)
