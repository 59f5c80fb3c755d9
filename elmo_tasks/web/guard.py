"""
What every request passes first: the limits of its body, the headers of its answer, and
the check of its host. FastAPI has none of these: it reads a body of any size.
"""

import re
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse

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

_ADDRESS = re.compile(r"([\d.]+|\[[\da-f:.]+\])(:\d*)?", re.ASCII | re.IGNORECASE)


class Guard:
    """ASGI middleware: rejects bodies that are too large, and adds headers."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request."""

        async def answer(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_headers(scope["path"])]
            await send(message)

        await self._app(scope, _bounded(receive), answer)


def _bounded(receive: Any) -> Any:
    """What receives a body of at most so many bytes."""
    size = 0

    async def bounded() -> Any:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > MAX_BYTES:
            # The connection is closed: the rest of the body may still come.
            raise HTTPException(413, _TOO_LARGE, {"Connection": "close"})
        return message

    return bounded


class Hosts(TrustedHostMiddleware):
    """
    Starlette's check of the name that a request has for the server: a page elsewhere,
    whose name leads here (DNS rebinding), has another. It has no IP address, so that
    these are always right, and needs not be told them.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request."""
        if _ADDRESS.fullmatch(Headers(scope=scope).get("host", "")):
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def _headers(path: str) -> list[tuple[bytes, bytes]]:
    headers = dict(HEADERS)
    if path == DOCS:
        headers["Content-Security-Policy"] = DOCS_POLICY
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def problem_response(error: HTTPException) -> JSONResponse:
    """The answer to a request that has failed: an object with the key `error`."""
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)
