"""A web server on this machine that stalls, cuts, lies, and never ends."""

import hashlib
import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

CONTENT = bytes(range(256)) * 1000
HALF = len(CONTENT) // 2
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """
    Answers `/NAME/...` by the method `NAME` of `Handler`; counts requests.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[str] = []
        self.count: Counter[str] = Counter()
        self.ended = Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that closes the connection is no error."""


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *arguments: Any) -> None: ...

    def do_GET(self) -> None:
        name = self.path.split("/")[1]
        self.server.requests.append(self.path)
        self.server.count[name] += 1
        with suppress(ConnectionError):
            getattr(self, name)(self.server.count[name])

    def start(self, status: int, length: int | None, **headers: str) -> None:
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()

    def sound(self, count: int) -> None:
        self.start(200, len(CONTENT))
        self.wfile.write(CONTENT)

    def packed(self, count: int) -> None:
        """A ZIP of an empty `options.json`."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("options.json", "{}")
        self.start(200, len(packed.getvalue()))
        self.wfile.write(packed.getvalue())

    def stalls(self, count: int) -> None:
        """Half of the file, and then nothing."""
        self.start(200, len(CONTENT))
        self.wfile.write(CONTENT[:HALF])
        self.server.ended.wait(20)

    def longer(self, count: int) -> None:
        """It has less than it says."""
        self.start(200, len(CONTENT) + 9)
        self.wfile.write(CONTENT)

    def gone(self, count: int) -> None:
        self.start(404, 0)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of downloads, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/elmo_tasks"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server
