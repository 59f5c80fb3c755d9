"""A server in its own process, and requests to it."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.tiny import ROOT

SECONDS = 120


class Reply(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"])


class Server(NamedTuple):
    process: subprocess.Popen[str]
    port: int

    def send(self, path: str, body: Any = None, *, method: str | None = None, **options: Any) -> Reply:
        """GET, or POST with a body: bytes, an iterator (chunked) or what is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        raw = body is None or isinstance(body, bytes) or hasattr(body, "__next__")
        data = body if raw else json.dumps(body).encode()
        connection.request(method or ("GET" if body is None else "POST"), path, data, **options)
        answer = connection.getresponse()
        reply = Reply(answer.status, answer.headers, answer.read())
        connection.close()
        return reply


@contextmanager
def serving(*arguments: object) -> Iterator[Server]:
    """`elmo-tasks serve` at a free port."""
    command = [sys.executable, "-m", "elmo_tasks", "serve", "--port", "0", *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            lines = []
            for line in process.stderr:
                lines.append(line)
                if line.startswith("http://127.0.0.1:"):
                    yield Server(process, int(line.rstrip("/\n").rpartition(":")[2]))
                    break
            else:
                raise AssertionError("".join(lines))
        finally:
            process.kill()
