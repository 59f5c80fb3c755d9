"""A web server on this machine that stalls, cuts, lies, and never ends."""

import base64
import io
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

CONTENT = bytes(range(256)) * 1000
HALF = len(CONTENT) // 2
LARGE = CONTENT * 33
LOGIN = "Basic " + base64.b64encode(b"ann:pass/word").decode()


class Server(ThreadingHTTPServer):
    """
    Answers `/NAME/...` by the method `NAME` of `Handler`; counts requests, and keeps
    their headers.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.count: Counter[str] = Counter()
        self.ended = Event()
        self.given = b""

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
        self.server.requests.append((self.path, dict(self.headers)))
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

    def part(self, start: int, end: int | None = None, **headers: str) -> None:
        """The bytes from `start` on, cut off before `end`."""
        place = f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}"
        self.start(206, len(CONTENT) - start, Content_Range=place, **headers)
        self.wfile.write(CONTENT[start:end])

    def asked(self) -> int:
        """The first byte that is asked for, if it is by `Range` and `If-Range`."""
        wanted, version = self.headers["Range"], self.headers["If-Range"]
        return int(wanted[6:-1]) if wanted and version == '"1"' else 0

    def sound(self, count: int) -> None:
        self.start(200, len(CONTENT), ETag='"1"')
        self.wfile.write(CONTENT)

    def packed(self, count: int) -> None:
        """A ZIP of an empty `options.json`."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("options.json", "{}")
        self.start(200, len(packed.getvalue()), ETag='"1"')
        self.wfile.write(packed.getvalue())

    def with_range(self, count: int) -> None:
        """As most servers answer, also where no byte is left."""
        start = self.asked()
        if start >= len(CONTENT):
            self.start(416, 0, Content_Range=f"bytes */{len(CONTENT)}", ETag='"1"')
        elif start:
            self.part(start, ETag='"1"')
        else:
            self.sound(count)

    def range_without_size(self, count: int) -> None:
        """It does not say how much it has where no byte is left."""
        if self.asked() >= len(CONTENT):
            self.start(416, 0)
        else:
            self.with_range(count)

    def given(self, count: int) -> None:
        """What a test gives, without its size."""
        self.start(200, None)
        self.wfile.write(self.server.given)

    def cut(self, count: int) -> None:
        """A quarter of the file for each request."""
        start, size = self.asked(), len(CONTENT) // 4
        if start:
            self.part(start, start + size, ETag='"1"')
        else:
            self.start(200, len(CONTENT), ETag='"1"')
            self.wfile.write(CONTENT[:size])

    def often_cut(self, count: int) -> None:
        """Much of a large file for each request."""
        start = self.asked()
        much = LARGE[start : start + 1_200_000]
        headers = {"ETag": '"1"'}
        status = 200
        if start:
            status = 206
            headers["Content_Range"] = f"bytes {start}-{len(LARGE) - 1}/{len(LARGE)}"
        self.start(status, len(LARGE) - start, **headers)
        self.wfile.write(much)

    def by_time(self, count: int) -> None:
        """As `cut`, without an ETag."""
        changed = "Mon, 01 Jan 2024 00:00:00 GMT"
        if self.headers["If-Range"] == changed:
            self.part(int(self.headers["Range"][6:-1]), Last_Modified=changed)
        else:
            self.start(200, len(CONTENT), Last_Modified=changed, ETag='W/"1"')
            self.wfile.write(CONTENT[:HALF])

    def without_range(self, count: int) -> None:
        self.start(200, len(CONTENT), ETag='"1"')
        self.wfile.write(CONTENT if count == 3 else CONTENT[:HALF])

    def without_version(self, count: int) -> None:
        self.start(200, len(CONTENT))
        self.wfile.write(CONTENT if count == 2 else b"x" * HALF)

    def changed(self, count: int) -> None:
        """Another file at the second request."""
        self.start(200, len(CONTENT), ETag=f'"{count}"')
        self.wfile.write(CONTENT if count == 2 else b"x" * HALF)

    def changed_in_part(self, count: int) -> None:
        """A server that ignores `If-Range`, with another file at the second request."""
        if self.headers["Range"]:
            self.part(int(self.headers["Range"][6:-1]), ETag='"2"')
        else:
            self.start(200, len(CONTENT), ETag=f'"{count}"')
            self.wfile.write(CONTENT if count == 3 else b"x" * HALF)

    def wrong_part(self, count: int) -> None:
        if self.headers["Range"]:
            self.part(5, ETag='"1"')
        else:
            self.start(200, len(CONTENT), ETag='"1"')
            self.wfile.write(CONTENT if count == 3 else b"x" * HALF)

    def unavailable(self, count: int) -> None:
        if count < 3:
            self.start(503, 0)
        else:
            self.sound(count)

    def stalls(self, count: int) -> None:
        if count > 1:
            self.part(self.asked(), ETag='"1"')
        else:
            self.start(200, len(CONTENT), ETag='"1"')
            self.wfile.write(CONTENT[:HALF])
            self.server.ended.wait(20)

    def stalls_always(self, count: int) -> None:
        self.server.ended.wait(20)

    def trickles(self, count: int) -> None:
        self.start(200, len(CONTENT))
        while not self.server.ended.wait(0.05):
            self.wfile.write(b"x")

    def trickles_headers(self, count: int) -> None:
        self.wfile.write(b"HTTP/1.0 200 OK\r\n")
        while not self.server.ended.wait(0.05):
            self.wfile.write(b"x")

    def continues(self, count: int) -> None:
        while not self.server.ended.wait(0.001):
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def many_headers(self, count: int) -> None:
        self.wfile.write(b"HTTP/1.0 200 OK\r\n")
        while not self.server.ended.is_set():
            self.wfile.write(b"X-Header: x\r\n" * 100)

    def endless(self, count: int) -> None:
        self.start(200, None)
        while not self.server.ended.is_set():
            self.wfile.write(bytes(2**16))

    def endless_chunks(self, count: int) -> None:
        self.protocol_version = "HTTP/1.1"
        self.start(200, None, Transfer_Encoding="chunked")
        while not self.server.ended.is_set():
            self.wfile.write(b"ffff\r\n" + bytes(0xFFFF) + b"\r\n")

    def endless_trailer(self, count: int) -> None:
        self.protocol_version = "HTTP/1.1"
        self.start(200, None, Transfer_Encoding="chunked")
        self.wfile.write(b"0\r\n")
        while not self.server.ended.wait(0.001):
            self.wfile.write(b"X-Header: x\r\n" * 10)

    def endless_redirect(self, count: int) -> None:
        self.start(302, None, Location="/sound/x")
        while not self.server.ended.is_set():
            self.wfile.write(bytes(2**16))

    def endless_error(self, count: int) -> None:
        self.start(404, None)
        while not self.server.ended.is_set():
            self.wfile.write(bytes(2**16))

    def too_long(self, count: int) -> None:
        self.start(200, 10**15)

    def longer(self, count: int) -> None:
        """It has less than it says."""
        self.start(200, len(CONTENT) + 9)
        self.wfile.write(CONTENT)

    def shorter(self, count: int) -> None:
        """It has more than it says."""
        self.start(200, HALF)
        self.wfile.write(CONTENT)

    def unsized(self, count: int) -> None:
        """It does not say how much it has."""
        self.start(200, None)
        self.wfile.write(CONTENT)

    def half(self, count: int) -> None:
        """At the first request half of the file, then no more."""
        start = self.asked()
        if start:
            self.part(start, start, ETag='"1"')
        else:
            self.start(200, len(CONTENT), ETag='"1"')
            self.wfile.write(CONTENT[:HALF])

    def interrupted(self, count: int) -> None:
        """Half of the file, then no more for the five attempts of a call."""
        start = self.asked()
        if start == 0:
            self.start(200, len(CONTENT), ETag='"1"')
            self.wfile.write(CONTENT[:HALF])
        elif count <= 5:
            self.part(start, start, ETag='"1"')
        else:
            self.part(start, ETag='"1"')

    def shut(self, count: int) -> None:
        self.start(503, 0)

    def status(self, count: int) -> None:
        """The status that the path names."""
        self.start(int(self.path.split("/")[2]), 0)

    def redirect(self, count: int) -> None:
        """Redirects with the status that the path names."""
        self.start(int(self.path.split("/")[2]), 0, Location="/sound/x")

    def gone(self, count: int) -> None:
        self.start(404, 0)

    def to(self, count: int) -> None:
        """Redirects to the rest of the path."""
        target = self.path.removeprefix("/to/").replace("SERVER", self.server.address)
        self.start(302, 0, Location=target)

    def around(self, count: int) -> None:
        self.start(302, 0, Location="/around/x")

    def login(self, count: int) -> None:
        if self.headers["Authorization"] == LOGIN:
            self.sound(count)
        else:
            self.start(401, 0)

    def slow(self, count: int) -> None:
        self.start(200, len(CONTENT), ETag='"1"')
        for start in range(0, len(CONTENT), len(CONTENT) // 10):
            time.sleep(0.05)
            self.wfile.write(CONTENT[start : start + len(CONTENT) // 10])
