"""
`elmo-tasks serve` under requests of all kinds: each is answered, in time, and memory
stays.
"""

import json
import os
import random
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from elmo_tasks.tasks import TASKS
from tests.archives.make import INPUTS, STORED
from tests.web import traffic
from tests.web.serving import Server, serving

pytestmark = pytest.mark.slow

ARCHIVES = [STORED / "1" / f"{task}.tar.gz" for task in INPUTS]
TIMEOUT = 600
"""Seconds; a loaded machine must not make a valid answer late."""

UNANSWERED = {"half-closed", "client leaves", "chunks", "HTTP"}
"""Kinds of requests whose connection the server may close without an answer."""

SLOWEST = {"tokens": ["word"] * TASKS["ner"].page.limits["words"]}
ON_LINUX = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="memory is measured on Linux"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(*ARCHIVES, "--timeout", TIMEOUT) as running:
        yield running


@pytest.mark.parametrize("seed", range(4))
def test_requests_of_all_kinds(seed: int, server: Server) -> None:
    drawn = random.Random(seed)
    requests = [traffic.draw(drawn, heavy=False) for _ in range(60)]
    limit = TIMEOUT + traffic.SLACK

    def answered(request: traffic.Request) -> list[traffic.Answer]:
        return traffic.exchange(server.port, request, limit=limit)

    with ThreadPoolExecutor(6) as clients:
        answers = sum(clients.map(answered, requests), [])
    assert {answer.status for answer in answers} <= traffic.STATUSES | {0}
    assert [answer for answer in answers if answer.status == 503] == []
    assert {answer.kind for answer in answers if not answer.status} <= UNANSWERED
    assert 200 in {answer.status for answer in answers if answer.kind == "valid"}


@ON_LINUX
@pytest.mark.parametrize("task", INPUTS)
def test_the_largest_inputs_take_little_memory(task: str, server: Server) -> None:
    """
    As many words as permitted, 20,000 bytes without blanks, and one word: answered, or
    said what is too large.
    """
    drawn = random.Random(1)
    most = TASKS[task].page.limits["words"]
    bodies = [traffic.dumped(traffic.of_words(task, most, drawn))]
    bodies += [make(task, drawn) for make in (traffic.fills_bytes, traffic.one_word)]
    before = traffic.memory(server.process.pid)
    for body in bodies:
        reply = server.send(f"/api/predict/{task}", body)
        assert reply.status in (200, 422), reply.body
        assert len(reply.body) <= 2_000_000
        assert traffic.memory(server.process.pid) - before < 300e6


@ON_LINUX
def test_texts_of_many_lengths_leave_no_memory_behind(server: Server) -> None:
    """
    Each length makes oneDNN compile code for an LSTM, which it must not keep; else the
    process is replaced.
    """
    before = traffic.children(traffic.children({server.process.pid}))
    for length in range(1, 41):
        assert server.send("/api/predict/sst", {"tokens": ["a"] * length}).status == 200
    assert traffic.children(traffic.children({server.process.pid})) == before


@pytest.mark.parametrize("task", INPUTS)
def test_larger_inputs_are_rejected_with_the_limit(task: str, server: Server) -> None:
    """Each limit, with one more than it permits."""
    drawn = random.Random(1)
    limits = TASKS[task].page.limits
    given = {"words": traffic.of_words(task, limits["words"] + 1, drawn)}
    if task == "srl":
        given["words times predicates"] = {
            "tokens": ["a"] * 501,
            "predicates": list(range(5)),
        }
    if task == "coref":
        given["sentences"] = {"sentences": [["a"]] * 151}
        given["sentences times words of the longest"] = {
            "sentences": [["a"] * 41] + [["a"]] * 99
        }
    assert given.keys() == limits.keys()
    for what, data in given.items():
        reply = server.send(f"/api/predict/{task}", data)
        expected = f"expected at most {limits[what]:,} {what}, got "
        assert reply.status == 422
        assert json.loads(reply.body)["error"].startswith(expected)


def test_attention_is_that_of_the_words_that_are_drawn(server: Server) -> None:
    drawn = TASKS["snli"].page.attention
    given = {"premise": ["a"] * 100, "hypothesis": ["b"] * 60}
    found = json.loads(server.send("/api/predict/snli", given).body)
    assert len(found["premise"]) == 100
    for name in ("premise_attention", "hypothesis_attention"):
        assert [len(weights) for weights in found[name]] == [drawn] * drawn


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have(number: str, server: Server) -> None:
    body = b'{"tokens": ["a"], "id": %s}' % number.encode()
    reply = server.send("/api/predict/ner", body)
    assert reply.status == 422
    assert "expected a value of JSON" in json.loads(reply.body)["error"]


def test_work_whose_client_is_gone_is_not_begun(server: Server) -> None:
    """
    Twenty of the slowest inputs, all left at once: the next answer comes after the
    first of them.
    """
    request = traffic.post("ner", traffic.dumped(SLOWEST))
    began = time.monotonic()
    server.send("/api/predict/ner", SLOWEST)
    once = time.monotonic() - began
    for _ in range(20):
        with closing(socket.create_connection(("127.0.0.1", server.port))) as client:
            client.sendall(request)
    began = time.monotonic()
    assert server.send("/api/predict/ner", {"tokens": ["a"]}).status == 200
    assert time.monotonic() - began < 5 * once


@pytest.fixture(scope="module")
def impatient() -> Iterator[Server]:
    with serving(ARCHIVES[0], ARCHIVES[1], "--timeout", 0.5) as running:
        yield running


def wait_until_ready(server: Server, task: str) -> None:
    """Until a model that was ended answers again."""
    until = time.monotonic() + 120
    while server.send(f"/api/predict/{task}", INPUTS[task]).status != 200:
        assert time.monotonic() < until
        time.sleep(0.2)


def test_time_limit(impatient: Server) -> None:
    """What takes longer is ended and its model started again; other models go on."""
    began = time.monotonic()
    late = impatient.send("/api/predict/ner", SLOWEST)
    assert time.monotonic() - began < 0.5 + traffic.SLACK
    assert (late.status, json.loads(late.body)) == (
        503,
        {"error": "no answer within 0.5 seconds"},
    )
    assert int(late.headers["Retry-After"]) > 0
    next_one = impatient.send("/api/predict/ner", INPUTS["ner"])
    assert next_one.status == 503
    assert "started again" in json.loads(next_one.body)["error"]
    assert int(next_one.headers["Retry-After"]) > 0
    assert impatient.send("/health").status == 200
    wait_until_ready(impatient, "ner")


@ON_LINUX
def test_a_model_whose_process_dies_is_started_again(impatient: Server) -> None:
    wait_until_ready(impatient, "ner")
    starter = traffic.children({impatient.process.pid})
    for pid in traffic.children(starter):
        os.kill(pid, signal.SIGKILL)
    reply = impatient.send("/api/predict/ner", INPUTS["ner"])
    assert reply.status == 503
    wait_until_ready(impatient, "ner")


def test_a_body_that_does_not_arrive_is_refused(impatient: Server) -> None:
    whole = traffic.post("ner", traffic.dumped(INPUTS["ner"]))
    address = ("127.0.0.1", impatient.port)
    with closing(socket.create_connection(address, timeout=60)) as client:
        client.sendall(whole[:-5])
        received = b""
        while piece := client.recv(10_000):
            received += piece
    assert received.startswith(b"HTTP/1.1 408 ")


def test_sigterm_whatever_runs() -> None:
    """
    Models that compute, requests that wait, bodies that are incomplete, clients that do
    not read.
    """
    with ExitStack() as stack:
        running = stack.enter_context(serving(*ARCHIVES[:2], "--timeout", 600))
        for task in ("ner", "ner", "ner", "snli", "snli"):
            slowest = traffic.of_words(task, TASKS[task].page.limits["words"], random)
            whole = traffic.post(task, traffic.dumped(slowest))
            for sent in (whole, whole[:-5], b"GET /"):
                client = socket.create_connection(("127.0.0.1", running.port))
                stack.enter_context(closing(client))
                client.sendall(sent)
        time.sleep(0.5)
        running.process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        assert running.process.wait(60) == 0
        assert time.monotonic() - began < 30
        running.errors.seek(0)
        assert "Traceback" not in running.errors.read()
