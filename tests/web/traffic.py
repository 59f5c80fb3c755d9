"""
Requests of every kind that a server meets, valid and invalid, and what must hold for
each answer.
"""

import http.client
import io
import json
import random
import socket
import time
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from elmo_tasks.tasks import TASKS
from elmo_tasks.web.app import MAX_BYTES
from elmo_tasks.web.loaded import MAX_ANSWER
from tests.archives.make import INPUTS
from tests.system import require_path

LETTERS = ["a", "é", "日", "\U0001f642", "\u0301", '"', "\\", "\u202e", "\x7f", "_"]
STATUSES = {200, 400, 404, 405, 408, 413, 415, 422, 431, 503}
SLACK = 10
"""Seconds beyond the server's time limit, for a busy machine."""


class Request(NamedTuple):
    """What a client sends, how it goes on, and how many answers it expects at most."""

    kind: str
    sent: bytes
    then: str = "read"
    answers: int = 1


class Answer(NamedTuple):
    """
    An answer that has been checked; 0 is the status of a connection that was closed
    without one.
    """

    kind: str
    status: int
    seconds: float
    size: int
    error: str = ""


def post(task: str, body: bytes, *, kind: str = "application/json") -> bytes:
    """A request for a prediction, as it is sent."""
    head = f"POST /api/predict/{task} HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def dumped(value: Any) -> bytes:
    """JSON as a client of another language writes it: without escapes, in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def words(count: int, drawn: random.Random) -> list[str]:
    """So many new words of one or two letters, or one that repeats."""
    if drawn.random() < 0.3:
        return [drawn.choice("a_.")] * count
    return ["".join(drawn.choices("abcdefgh", k=2)) for _ in range(count)]


def of_words(task: str, count: int, drawn: random.Random) -> dict[str, Any]:
    """An input of a task with so many words."""
    given = words(count, drawn)
    half = count // 2
    if task == "squad":
        return {"passage": " ".join(given[1:]), "question": "a"}
    if task == "snli":
        return {"premise": given[:half], "hypothesis": given[half:]}
    if task == "coref":
        return {"sentences": [given[at : at + 25] for at in range(0, count, 25)]}
    if task == "srl":
        return {"tokens": given, "predicates": [0]}
    return {"tokens": given}


def fills_words(task: str, drawn: random.Random) -> bytes:
    """As many words as the task permits, or one more."""
    most = TASKS[task].page.limits["words"]
    return dumped(of_words(task, most + drawn.randrange(2), drawn))


def fills_other_limits(task: str, drawn: random.Random) -> bytes:
    """The most predicates, sentences or padding that the task permits, or more."""
    limits = TASKS[task].page.limits
    if task == "srl":
        count = drawn.choice([20, 60, 100])
        most = limits["words times predicates"] // count
        predicates = list(range(min(count, most + drawn.randrange(2))))
        return dumped({"tokens": words(count, drawn), "predicates": predicates})
    if task == "coref":
        sentences = drawn.choice([10, 60, limits["sentences"]]) + drawn.randrange(2)
        longest = limits["sentences times words of the longest"] // sentences
        given = [words(longest, drawn)] + [["a"]] * (sentences - 1)
        return dumped({"sentences": given})
    return fills_words(task, drawn)


def fills_bytes(task: str, drawn: random.Random) -> bytes:
    """
    A text of as many bytes as a body may have: of one letter, with and without blanks.
    """
    letter = drawn.choice(LETTERS) + drawn.choice(["", "", " ", "\n", ". "])
    keys = INPUTS[task].keys() - {"id"}
    if task in ("ner", "srl", "sst"):
        keys = {"sentence"}
    elif task == "coref":
        keys = {"text"}
    size = len(dumped(letter)) - 2
    count = (MAX_BYTES - 60) // (size * len(keys))
    return dumped(dict.fromkeys(sorted(keys), letter * count))


def one_word(task: str, drawn: random.Random) -> bytes:
    """One word that takes the rest of the bytes of a body, among few or many others."""
    given = of_words(task, drawn.choice([12, 500]), drawn)
    letter = drawn.choice(LETTERS)
    rest = MAX_BYTES - len(dumped(given)) - 100
    long = letter * (rest // (len(dumped(letter)) - 2))
    for key, value in given.items():
        if isinstance(value, list) and value and isinstance(value[0], str):
            return dumped({**given, key: [*value, long]})
        if isinstance(value, list) and value and isinstance(value[0], list):
            return dumped({**given, key: [*value, [long]]})
    return dumped({**given, "passage": f"{given['passage']} {long}"})


def changed(task: str, drawn: random.Random) -> bytes:
    """
    A valid body with bytes replaced, removed or repeated: often not UTF-8, or not JSON.
    """
    body = bytearray(dumped(INPUTS[task]))
    for _ in range(drawn.randrange(1, 4)):
        at = drawn.randrange(len(body))
        piece = bytes(drawn.choices(range(256), k=drawn.randrange(4)))
        body[at : at + drawn.randrange(4)] = piece
    return bytes(body)


def odd_value(task: str, drawn: random.Random) -> bytes:
    """
    A valid body with a key of another type, too deep, too large or not a number of
    JSON.
    """
    depth = drawn.choice([10, 400, 990, 5000])
    values = ["NaN", "-Infinity", "1e999", "-1e999", "1" * 4000, "1" * 9000, "null"]
    values += ["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth]
    values += ['"\\ud800"', '""', "[]", "{}", "[[]]", "[1]", "true", '[" "]', "-0.0"]
    value = drawn.choice(values).encode()
    given = dumped(INPUTS[task])
    key = drawn.choice(["id", *INPUTS[task], "predicates", "speakers", "genre", "x"])
    return given[:-1] + b"," + dumped(key) + b":" + value + b"}"


def other_json(task: str, drawn: random.Random) -> bytes:
    """JSON, or nothing, in place of an object."""
    return drawn.choice(
        [b"", b" ", b"[]", b"{}", b"null", b"0", b'""', b"NaN", b"[{}]", b"\xff"]
        + [b"[" * 19_000, b'{"a":' * 3_900, b"[]," * 6_000, b"\xef\xbb\xbf{}"]
    )


BODIES: dict[str, tuple[int, Callable[[str, random.Random], bytes]]] = {
    "valid": (20, lambda task, drawn: dumped(INPUTS[task])),
    "as many words as permitted": (1, fills_words),
    "another limit reached": (1, fills_other_limits),
    "20,000 bytes of a letter": (3, fills_bytes),
    "a long word": (3, one_word),
    "changed bytes": (20, changed),
    "odd values": (20, odd_value),
    "other JSON": (12, other_json),
}
"""How often each kind of body is drawn, and the function that makes one for a task."""

CONNECTIONS = {
    "pipelining": 5,
    "half-closed": 3,
    "client leaves": 4,
    "slow sender": 2,
    "chunks": 4,
    "HTTP": 5,
}
"""How often each kind of connection is drawn."""


def draw(drawn: random.Random, *, heavy: bool = True) -> Request:
    """
    A request for one of the models of `tests/archives`; without `heavy` ones that reach
    no limit.
    """
    bodies = {
        kind: share
        for kind, (share, _) in BODIES.items()
        if heavy or "permitted" not in kind and "limit" not in kind
    }
    shares = bodies | CONNECTIONS
    kind = drawn.choices(list(shares), list(shares.values()))[0]
    task = drawn.choice(list(INPUTS))
    if kind in BODIES:
        return Request(kind, post(task, BODIES[kind][1](task, drawn)))
    valid = post(task, dumped(INPUTS[task]))
    if kind == "pipelining":
        other = drawn.choice([valid, b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"])
        return Request(kind, valid + other, answers=2)
    if kind == "half-closed":
        return Request(kind, valid, "half-close")
    if kind == "client leaves":
        return Request(kind, valid[: drawn.randrange(1, len(valid) + 1)], "leave")
    if kind == "slow sender":
        return Request(kind, valid, "slow")
    if kind == "chunks":
        return Request(kind, chunked(task, drawn))
    sent = odd_http(task, drawn)
    lacks_bytes = b"Content-Length: 9" in sent
    return Request(kind, sent, "half-close" if lacks_bytes else "read")


def chunked(task: str, drawn: random.Random) -> bytes:
    """A body without a length, perhaps too large or damaged."""
    head = f"POST /api/predict/{task} HTTP/1.1\r\nHost: localhost\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = dumped(INPUTS[task]) + b" " * drawn.choice([0, 10, 30_000])
    chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n"
    last = drawn.choice([b"0\r\n\r\n", b"zz\r\n\r\n", b"0\r\nTrailer: 1\r\n\r\n"])
    return head.encode() + chunk + last


def odd_http(task: str, drawn: random.Random) -> bytes:
    """Another method, path, header or protocol."""
    valid = post(task, dumped(INPUTS[task]))
    return drawn.choice(
        [
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /api/models HTTP/1.0\r\n\r\n",
            b"GET /%ff%00/../etc HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50,
            b"GET / HTTP/1.1\r\nHost: " + b"x" * 70_000 + b"\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
            valid.replace(b"POST", b"PUT"),
            valid.replace(b"application/json", b"text/plain"),
            valid.replace(b"localhost", b"elsewhere.example"),
            valid.replace(b"Host", b"Expect: 100-continue\r\nHost"),
            valid.replace(b"Host", b"Connection: upgrade\r\nUpgrade: x\r\nHost"),
            valid.replace(b"Content-Length: ", b"Content-Length: 9"),
            valid.replace(b"Content-Length: ", b"Content-Length: -"),
        ]
    )


def exchange(port: int, request: Request, *, limit: float) -> list[Answer]:
    """
    Sends a request; returns its answers. Raises `AssertionError` for one that breaks a
    promise.
    """
    address = ("127.0.0.1", port)
    began = time.monotonic()
    answers = []
    with closing(socket.create_connection(address, timeout=limit)) as connection:
        try:
            _send(connection, request)
            if request.then == "leave":
                return [Answer(request.kind, 0, 0.0, 0)]
            stream = _Stream(socket.SocketIO(connection, "r"))
            for _ in range(request.answers):
                answers.append(_read(stream, request, began))
        except (ConnectionError, http.client.BadStatusLine):
            # the server may close a connection that broke the protocol
            answers.append(Answer(request.kind, 0, time.monotonic() - began, 0))
    return answers


def _send(connection: socket.socket, request: Request) -> None:
    if request.then == "slow":
        step = len(request.sent) // 5 + 1
        for at in range(0, len(request.sent), step):
            connection.sendall(request.sent[at : at + step])
            time.sleep(0.1)
    else:
        connection.sendall(request.sent)
    if request.then == "half-close":
        connection.shutdown(socket.SHUT_WR)


class _Stream(io.BufferedReader):
    """
    What a server sends: several answers, as `HTTPResponse` wants them, which would
    close it after the first.
    """

    def makefile(self, mode: str) -> "_Stream":
        return self

    def close(self) -> None: ...


def _read(stream: Any, request: Request, began: float) -> Answer:
    response = http.client.HTTPResponse(stream)
    response.begin()
    body = response.read()
    assert response.status in STATUSES, (request, response.status, body[:200])
    assert len(body) <= MAX_ANSWER, request
    error = ""
    if response.headers.get_content_type() == "application/json":
        value = json.loads(body, parse_constant=_no_constant)
        error = value.get("error", "")
        assert (response.status == 200) == (not error), (request, body[:200])
    else:
        assert response.status in (200, 400, 503), (request, body[:200])
    if response.status == 503:
        error = error or body.decode()
    seconds = time.monotonic() - began
    return Answer(request.kind, response.status, seconds, len(body), error)


def _no_constant(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def children(pids: Collection[int]) -> set[int]:
    """The processes that these have started, on Linux."""
    require_path("/proc/self/status")
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = stat.read_text().rpartition(") ")[2].split()
        except OSError:  # it has ended
            continue
        if int(after_name[1]) in pids:
            found.add(int(stat.parent.name))
    return found


def memory(pid: int) -> int:
    """
    The resident bytes of a server, of the process that starts those of its models, and
    of these, on Linux.
    """
    require_path("/proc/self/status")
    starter = children({pid})
    size = 0
    for one in {pid, *starter, *children(starter)}:
        try:
            lines = Path(f"/proc/{one}/status").read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            if line.startswith("VmRSS:"):
                size += 1024 * int(line.split()[1])
    return size
