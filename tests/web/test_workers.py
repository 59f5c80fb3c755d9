"""`elmo-tasks serve --workers 2`: two processes of one model."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.archives.make import INPUTS, STORED
from tests.web import traffic
from tests.web.serving import Server, serving
from tests.web.test_traffic import ON_LINUX, SLOWEST

pytestmark = [pytest.mark.slow, ON_LINUX]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    archive = STORED / "1" / "ner.tar.gz"
    with serving(archive, "--timeout", 600, "--workers", 2) as running:
        yield running


def workers(server: Server) -> set[int]:
    """The processes of the model."""
    return traffic.children(traffic.children({server.process.pid}))


def wait_for_two(server: Server) -> set[int]:
    """The processes, when there are two again that answer."""
    until = time.monotonic() + 120
    while b'elmo_tasks_workers{model="ner"} 2.0\n' not in server.send("/metrics").body:
        assert time.monotonic() < until
        time.sleep(0.1)
    return workers(server)


def status(server: Server) -> int:
    return server.send("/api/predict/ner", INPUTS["ner"]).status


def test_a_request_goes_to_a_free_process(server: Server) -> None:
    """It is answered while another one is computed."""
    wait_for_two(server)
    with ThreadPoolExecutor(1) as other:
        slow = other.submit(server.send, "/api/predict/ner", SLOWEST)
        time.sleep(0.1)
        answered = 0
        while not slow.done():
            assert status(server) == 200
            answered += 1
        assert slow.result().status == 200
    assert answered > 1


def test_a_process_that_dies_is_replaced_and_no_request_notices(
    server: Server,
) -> None:
    before = wait_for_two(server)
    assert len(before) == 2
    killed = min(before)
    os.kill(killed, signal.SIGKILL)
    while killed in workers(server):
        time.sleep(0.01)
    assert [status(server) for _ in range(10)] == [200] * 10
    after = wait_for_two(server)
    assert len(after) == 2
    assert len(after & before) == 1


def test_requests_are_refused_while_no_process_is_left(server: Server) -> None:
    before = wait_for_two(server)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    reply = server.send("/api/predict/ner", INPUTS["ner"])
    assert reply.status == 503
    assert int(reply.headers["Retry-After"]) > 0
    assert not wait_for_two(server) & before
    assert status(server) == 200
