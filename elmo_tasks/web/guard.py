"""
What every request passes first: the check of its host, the limits of its body, and the
headers of its answer. FastAPI has none of these: it reads a body of any size.
"""

import asyncio
import re
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from elmo_tasks.errors import shown
from elmo_tasks.web.metrics import Metrics

MAX_BYTES = 20_000
"""Of a request's body; the limits of a task's page bound what it costs."""

_TOO_LARGE = f"expected a body of at most {MAX_BYTES:,} bytes, got more"

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
DOCS_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self'"
    " 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
)
"""Of `DOCS`, which is Swagger's page, with a script in its HTML."""

DOCS = "/docs"

_LOCAL = re.compile(r"|localhost|[\d.]+|\[[\da-f:.]+\]")
"""
Hosts that are always allowed: a page elsewhere has none of them. Browsers always send
one, probes need not.
"""


class Rejected(HTTPException):
    """
    A request that is not read further. The application answers with its status and one
    line, and the connection is closed: the rest of the body may still come.
    """

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(status, problem, {"Connection": "close"})


class Guard:
    """
    ASGI middleware: rejects requests for another host (DNS rebinding: a page elsewhere
    whose name leads here), bodies of another type than JSON, which another site's page
    could send, and bodies that are too large or late. Counts the answers.
    """

    def __init__(
        self, app: Any, *, host: str, timeout: float, metrics: Metrics
    ) -> None:
        self._app = app
        self._host = host
        self._timeout = timeout
        self._metrics = metrics

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request."""

        async def answer(message: Any) -> None:
            if message["type"] == "http.response.start":
                self._metrics.answered(scope["path"], message["status"])
                message["headers"] = [*message["headers"], *_headers(scope["path"])]
            await send(message)

        try:
            self._require_valid(scope)
        except Rejected as rejected:
            await problem_response(rejected)(scope, receive, answer)
            return
        if scope["method"] == "HEAD":  # the server leaves out the body
            scope = scope | {"method": "GET"}
        await self._app(scope, self._bounded(receive), answer)

    def _require_valid(self, scope: Any) -> None:
        """
        Raises `Rejected` for a request that is for another host, is too large by its
        header, or is not JSON.
        """
        host = re.sub(r":\d*$", "", _header(scope, b"host"))
        if not _LOCAL.fullmatch(host) and host != self._host:
            raise Rejected(400, f"unknown host {shown(host)}")
        length = _header(scope, b"content-length")
        if length.isdecimal() and int(length) > MAX_BYTES:
            raise Rejected(413, _TOO_LARGE)
        if scope["method"] == "POST":
            kind = _header(scope, b"content-type").partition(";")[0].strip()
            if kind != "application/json":
                raise Rejected(415, "expected Content-Type: application/json")

    def _bounded(self, receive: Any) -> Any:
        """What receives a body of at most so many bytes and seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._timeout
        size = 0
        is_whole = False

        async def bounded() -> Any:
            nonlocal size, is_whole
            if is_whole:  # what follows is the end of the connection
                return await receive()
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                late = f"expected the whole body within {self._timeout:g} seconds"
                raise Rejected(408, late) from None
            size += len(message.get("body", b""))
            if size > MAX_BYTES:
                raise Rejected(413, _TOO_LARGE)
            is_whole = not message.get("more_body", False)
            return message

        return bounded


def _header(scope: Any, name: bytes) -> str:
    """
    The value of a header in lower case, the last one if it is repeated; empty without
    it.
    """
    found = ""
    for key, value in scope["headers"]:
        if key == name:
            found = value.decode("latin-1").lower()
    return found


def _headers(path: str) -> list[tuple[bytes, bytes]]:
    headers = dict(HEADERS)
    if path == DOCS:
        headers["Content-Security-Policy"] = DOCS_POLICY
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def problem_response(error: HTTPException) -> JSONResponse:
    """The answer to a request that has failed: an object with the key `error`."""
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)
