"""A server in its own process, and requests to it."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from tests.tiny import ROOT


class Reply(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Server(NamedTuple):
    process: subprocess.Popen[str]
    port: int
    errors: IO[str]
    """What it has written to stderr."""

    def send(
        self, path: str, body: Any = None, method: str | None = None, **headers: str
    ) -> Reply:
        """GET, or POST with a body: bytes, an iterator (chunked) or what is sent as JSON."""
        data = (
            body
            if body is None or isinstance(body, bytes | Iterator)
            else json.dumps(body).encode()
        )
        with closing(
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        ) as connection:
            kind = {} if body is None else {"Content-Type": "application/json"}
            connection.request(
                method or ("GET" if body is None else "POST"),
                path,
                data,
                kind | headers,
            )
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read())


@contextmanager
def serving(*arguments: object) -> Iterator[Server]:
    """`elmo-tasks serve` at a free port."""
    command = [
        sys.executable,
        "-m",
        "elmo_tasks",
        "serve",
        "--port",
        "0",
        *map(str, arguments),
    ]
    with (
        TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            ready = json.loads(
                next(line for line in process.stdout if line.startswith("{"))
            )
            port = int(ready["url"].rstrip("/").rpartition(":")[2])
            yield Server(process, port, errors)
        finally:
            process.kill()
