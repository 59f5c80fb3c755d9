"""
`elmo-tasks serve` under many requests, large inputs and what is no request: each is
answered or refused, and the others go on.
"""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.tasks import TASKS
from tests.archives.make import INPUTS, STORED
from tests.system import require_path
from tests.web.serving import Server, serving

pytestmark = pytest.mark.slow

ARCHIVES = [STORED / "1" / f"{task}.tar.gz" for task in INPUTS]
SECONDS = 3
"""The time limit of the impatient server."""

SLACK = 30
"""Seconds beyond a time limit, for a busy machine."""

SLOWEST = {"tokens": ["word"] * TASKS["ner"].page.limits["words"]}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(*ARCHIVES, "--timeout", 600) as running:
        yield running


@pytest.fixture(scope="module")
def impatient() -> Iterator[Server]:
    with serving(ARCHIVES[0], "--timeout", SECONDS) as running:
        yield running


def post(task: str, given: Any, head: str = "Host: localhost") -> bytes:
    """A request for a prediction, as it is sent."""
    body = json.dumps(given).encode()
    lines = [f"POST /api/predict/{task} HTTP/1.1", head]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def connect(server: Server, sent: bytes) -> socket.socket:
    """A client that has sent this."""
    client = socket.create_connection(("127.0.0.1", server.port), timeout=120)
    client.sendall(sent)
    return client


def received(client: socket.socket) -> bytes:
    """What a client gets until the server closes the connection."""
    found = b""
    try:
        while piece := client.recv(10_000):
            found += piece
    except ConnectionError:
        pass
    return found


def test_models_that_compute_at_once_answer_as_they_do_alone(server: Server) -> None:
    longer = {"tokens": ["Mira", "left", "Tarn", "."] * 60}
    asked = [*INPUTS.items(), ("ner", longer), ("srl", longer), ("sst", longer)]

    def answer(task: str, given: Any) -> bytes:
        reply = server.send(f"/api/predict/{task}", given)
        assert reply.status == 200
        return reply.body

    alone = [answer(*one) for one in asked]
    with ThreadPoolExecutor(len(asked)) as clients:
        for _ in range(5):
            together = [clients.submit(answer, *one) for one in asked]
            assert [one.result() for one in together] == alone


def test_sixty_requests_at_once_are_answered_or_refused_in_time(
    impatient: Server,
) -> None:
    def answered(number: int) -> int:
        began = time.monotonic()
        reply = impatient.send("/api/predict/ner", SLOWEST)
        assert time.monotonic() - began < SECONDS + SLACK
        if reply.status != 200:
            expected = {"error": f"the model is busy: no turn within {SECONDS} seconds"}
            assert json.loads(reply.body) == expected
            assert reply.headers["Retry-After"] == "1"
        return reply.status

    with ThreadPoolExecutor(60) as clients:
        assert set(clients.map(answered, range(60))) == {200, 503}
    assert impatient.send("/api/predict/ner", INPUTS["ner"]).status == 200


@pytest.mark.parametrize("task", INPUTS)
def test_larger_inputs_are_rejected_with_the_limit(task: str, server: Server) -> None:
    """Each limit, with one more than it permits."""
    limits = TASKS[task].page.limits
    words = ["a"] * (limits["words"] + 1)
    given: dict[str, Any] = {"words": {"tokens": words}}
    if task == "squad":
        given = {"words": {"passage": " ".join(words[1:]), "question": "a"}}
    if task == "snli":
        given = {"words": {"premise": words[:500], "hypothesis": words[500:]}}
    if task == "srl":
        given["words"]["predicates"] = [0]
        many = {"tokens": ["a"] * 501, "predicates": list(range(5))}
        given["words times predicates"] = many
    if task == "coref":
        given = {
            "words": {"sentences": [["a"] * 7] * 143},
            "sentences": {"sentences": [["a"]] * 151},
            "sentences times words of the longest": {
                "sentences": [["a"] * 41] + [["a"]] * 99
            },
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
        assert len(found[name]) == drawn
        assert {len(weights) for weights in found[name]} == {drawn}


def test_work_whose_client_is_gone_is_not_begun(server: Server) -> None:
    """
    Twenty of the slowest inputs, all left at once: the next answer comes after the
    first of them.
    """
    began = time.monotonic()
    server.send("/api/predict/ner", SLOWEST)
    once = time.monotonic() - began
    for _ in range(20):
        connect(server, post("ner", SLOWEST)).close()
    began = time.monotonic()
    assert server.send("/api/predict/ner", {"tokens": ["a"]}).status == 200
    assert time.monotonic() - began < 5 * once


WHOLE = post("ner", INPUTS["ner"], "Host: localhost\r\nConnection: close")


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (WHOLE, b"HTTP/1.1 200 "),
        (WHOLE.replace(b"Host", b"Expect: 100-continue\r\nHost"), b"HTTP/1.1 100 "),
        (WHOLE.replace(b"POST", b"PUT"), b"HTTP/1.1 405 "),
        (WHOLE.replace(b"localhost", b"\xff\xfe"), b"HTTP/1.1 400 "),
        (WHOLE.replace(b"localhost", b"x" * 70_000), b"HTTP/1.1 400 "),
        (WHOLE.replace(b"Length: ", b"Length: -"), b"HTTP/1.1 400 "),
        (b"GET /%ff%00/../etc HTTP/1.0\r\n\r\n", b"HTTP/1.1 400 "),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"HTTP/1.1 400 "),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"HTTP/1.1 400 "),
    ],
)
def test_odd_requests(sent: bytes, expected: bytes, impatient: Server) -> None:
    with closing(connect(impatient, sent)) as client:
        assert received(client).startswith(expected)


def test_texts_of_many_lengths_leave_no_memory_behind(server: Server) -> None:
    """Else oneDNN keeps code for each: a megabyte."""
    require_path("/proc/self/status")
    status = Path(f"/proc/{server.process.pid}/status")

    def resident() -> int:
        return int(status.read_text().partition("VmRSS:")[2].split()[0])

    sizes = []
    for start in (1, 61):
        for length in range(start, start + 60):
            given = {"tokens": ["a"] * length}
            assert server.send("/api/predict/sst", given).status == 200
        sizes.append(resident())
    assert sizes[-1] - sizes[0] < 25_000, sizes
