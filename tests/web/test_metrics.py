"""`/metrics`, in the text format of Prometheus."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.archives.make import INPUTS, STORED
from tests.web.serving import ODD_NAME, Server, serving

pytestmark = pytest.mark.slow

NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(\{{{LABEL}(?:,{LABEL})*\}})? ([0-9.e+-]+|\+Inf)")
TYPE = re.compile(rf"# TYPE ({NAME}) (counter|gauge|histogram)")
HELP = re.compile(rf"# HELP ({NAME}) .+")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    archive = STORED / "1" / "sst.tar.gz"
    with serving(archive, f"{ODD_NAME}={archive}", "--timeout", 600) as running:
        yield running


def scrape(server: Server) -> dict[str, float]:
    """
    The value of each sample, by name and labels. Every line must be one of the format,
    and every sample that of the metric which `# TYPE` names above it.
    """
    reply = server.send("/metrics")
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = reply.body.decode()
    assert text.endswith("\n")
    samples: dict[str, float] = {}
    metric = ""
    for line in text.splitlines():
        if line.startswith("# HELP"):
            found = HELP.fullmatch(line)
            assert found, line
            metric = found[1]
        elif line.startswith("#"):
            found = TYPE.fullmatch(line)
            assert found and found[1] == metric, line
            assert (found[2] == "counter") == metric.endswith("_total")
        else:
            found = SAMPLE.fullmatch(line)
            assert found, line
            assert found[1].startswith(metric)
            key = found[1] + (found[2] or "")
            assert key not in samples
            samples[key] = float(found[3])
    return samples


def test_requests_are_counted_by_path_and_status(server: Server) -> None:
    before = scrape(server)
    for body in (INPUTS["sst"], INPUTS["sst"], {}):
        server.send("/api/predict/sst", body)
    server.send("/nowhere")
    server.send("/<b>elsewhere")
    after = scrape(server)

    def growth(labels: str) -> float:
        key = f"elmo_tasks_requests_total{labels}"
        return after.get(key, 0) - before.get(key, 0)

    assert growth('{path="/api/predict/sst",status="200"}') == 2
    assert growth('{path="/api/predict/sst",status="422"}') == 1
    assert growth('{path="other",status="404"}') == 2
    assert growth('{path="/metrics",status="200"}') == 1
    assert not [key for key in after if "elsewhere" in key]


def test_the_histogram_of_seconds(server: Server) -> None:
    server.send("/api/predict/sst", INPUTS["sst"])
    samples = scrape(server)
    name = "elmo_tasks_prediction_seconds"
    buckets = []
    for key, count in samples.items():
        bound = re.fullmatch(rf'{name}_bucket{{le="(.*)",model="sst"}}', key)
        if bound:
            buckets.append((float(bound[1]), count))
    assert len(buckets) > 5
    assert buckets == sorted(buckets)
    counts = [count for _, count in buckets]
    assert counts == sorted(counts)
    assert buckets[-1] == (float("inf"), samples[f'{name}_count{{model="sst"}}'])
    assert counts[-1] > 0
    assert 0 < samples[f'{name}_sum{{model="sst"}}'] < 60 * counts[-1]


@pytest.mark.parametrize(
    ("body", "method", "headers", "status", "predictions"),
    [
        (INPUTS["sst"], "POST", {}, 200, 1),
        ({"tokens": ["a"] * 801}, "POST", {}, 422, 1),
        ({}, "POST", {}, 422, 0),
        (None, "GET", {}, 405, 0),
        (None, "HEAD", {}, 405, 0),
        ({}, "POST", {"Content-Type": "text/plain"}, 415, 0),
        ({}, "POST", {"Host": "evil.example"}, 400, 0),
        (b" " * 20_001, "POST", {}, 413, 0),
        (b"{", "POST", {}, 422, 0),
    ],
)
def test_only_what_a_model_has_answered_has_a_duration(
    body: Any,
    method: str,
    headers: dict[str, str],
    status: int,
    predictions: int,
    server: Server,
) -> None:
    name = 'elmo_tasks_prediction_seconds_count{model="sst"}'
    before = scrape(server)[name]
    assert server.send("/api/predict/sst", body, method, **headers).status == status
    assert scrape(server)[name] - before == predictions


def test_the_state_of_models(server: Server) -> None:
    samples = scrape(server)
    for name in ("sst", ODD_NAME):
        escaped = name.replace("\\", r"\\").replace('"', r"\"")
        labels = f'{{model="{escaped}"}}'
        assert samples[f"elmo_tasks_workers{labels}"] == 1
        assert samples[f"elmo_tasks_requests_waiting{labels}"] == 0
        assert samples[f"elmo_tasks_requests_computing{labels}"] == 0
        assert samples[f"elmo_tasks_worker_restarts_total{labels}"] == 0
