"""The HTTP interface: routes, limits, clear errors and metrics."""

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from elmo_tasks.errors import InputError, shown
from elmo_tasks.prediction.json_input import NOT_JSON, json_problem, loaded
from elmo_tasks.web.layers import Layers
from elmo_tasks.web.models import TrainedModel
from elmo_tasks.web.worker import Refused, Worker

PAGES = {"/": "text/html", "/page.js": "text/javascript", "/page.css": "text/css"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Service:
    """An ASGI application for models and biLMs, by name, with a worker for each; `timeout` is in seconds."""

    def __init__(
        self,
        models: Mapping[str, TrainedModel],
        bilms: Mapping[str, Layers],
        workers: Mapping[str, Worker],
        *,
        max_bytes: int,
        max_words: int,
        timeout: float,
    ) -> None:
        self._served: dict[str, Mapping[str, Any]] = {"predict": models, "neighbors": bilms, "map": bilms}
        self._workers, self._timeout, self._stopping = workers, timeout, False
        self._max_bytes, self._max_words = max_bytes, max_words
        self._about = {
            "models": [{"name": name, **model.describe()} for name, model in models.items()],
            "bilms": [{"name": name, **bilm.describe()} for name, bilm in bilms.items()],
            "limits": {"bytes": max_bytes, "words": max_words},
        }
        self._paths = {*PAGES, "/api/models", "/health", "/metrics"}
        self._paths |= {f"/api/{action}/{name}" for action, served in self._served.items() for name in served}
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        routes = [
            *(Route(path, self._page) for path in PAGES),
            Route("/api/models", self._models),
            Route("/api/{action}/{name}", self._answer, methods=["POST"]),
            Route("/health", self._health),
            Route("/metrics", self._metrics),
        ]
        errors: Sequence[Any] = (HTTPException, Refused, InputError, Exception)
        self._app = Starlette(routes=routes, exception_handlers=dict.fromkeys(errors, _error))
        self._app.router.redirect_slashes = False

    def stop(self) -> None:
        """Refuses new requests and those that wait."""
        self._stopping = True
        for worker in self._workers.values():
            worker.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Counts the request and its seconds."""
        start, status = time.monotonic(), 500

        async def counted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            route = scope["path"] if scope["path"] in self._paths else "other"
            self._requests[route, status] += 1
            self._seconds[route] += time.monotonic() - start

    async def _page(self, request: Request) -> Response:
        path = request.url.path
        page = resources.files("elmo_tasks.web") / "static" / (path[1:] or "page.html")
        return Response(page.read_bytes(), media_type=PAGES[path])

    async def _models(self, request: Request) -> Response:
        return _json(json.dumps(self._about).encode())

    async def _health(self, request: Request) -> Response:
        return _json(b'{"status": "%s"}' % (b"stopping" if self._stopping else b"ok"), 503 if self._stopping else 200)

    async def _metrics(self, request: Request) -> Response:
        lines = [f'requests_total{{route="{r}",status="{s}"}} {n}' for (r, s), n in sorted(self._requests.items())]
        lines += [f'request_seconds_total{{route="{route}"}} {n:.6f}' for route, n in sorted(self._seconds.items())]
        lines += [f'waiting{{model="{name}"}} {len(one.waiting)}' for name, one in self._workers.items()]
        sizes = [(name, size, n) for name, one in self._workers.items() for size, n in sorted(one.batches.items())]
        lines += [f'batches_total{{model="{name}",size="{size}"}} {n}' for name, size, n in sizes]
        return Response("".join(f"elmo_tasks_{line}\n" for line in lines), media_type="text/plain; version=0.0.4")

    async def _answer(self, request: Request) -> Response:
        action, name = request.path_params["action"], request.path_params["name"]
        if name not in self._served.get(action, {}):
            raise HTTPException(404, f"expected one of {', '.join(sorted(self._paths))}, got {shown(request.url.path)}")
        try:
            data = loaded((await self._body(request)).decode())
        except NOT_JSON as error:
            raise HTTPException(400, f"expected JSON: {json_problem(error)}") from None
        data, words = self._served[action][name].prepare(action, data)
        if words > self._max_words:
            raise InputError(f"expected at most {self._max_words:,} words, got {words:,}")
        gone = asyncio.ensure_future(request.receive())  # the body was read: the next message is that the client left
        try:
            return _json(await self._workers[name].answer(data, words, gone=gone, timeout=self._timeout))
        finally:
            gone.cancel()

    async def _body(self, request: Request) -> bytes:
        body, size, most = bytearray(), 0, self._max_bytes
        try:
            async with asyncio.timeout(self._timeout):
                async for piece in request.stream():
                    size += len(piece)
                    if size > 8 * most:  # up to there the client can send everything, and sees the answer
                        break
                    body += piece if size <= most else b""
        except TimeoutError:
            raise HTTPException(408, f"no complete request in {self._timeout:g} seconds") from None
        except ClientDisconnect:
            raise Refused(499, "the client has left") from None
        if size > most:
            raise HTTPException(413, f"expected a body of at most {most:,} bytes, got more")
        return bytes(body)


def _json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(body, status, headers, "application/json")


async def _error(request: Request, error: Exception) -> Response:
    """`{"error": ...}`, with the status of the error."""
    if isinstance(error, HTTPException):
        status, reason, headers = error.status_code, error.detail, dict(error.headers or {})
    else:
        status = error.status if isinstance(error, Refused) else 422 if isinstance(error, InputError) else 500
        reason, headers = str(error) if status != 500 else "internal error", {}
    if status in (429, 503):
        headers["Retry-After"] = "1"
    return _json(json.dumps({"error": reason}).encode(), status, headers)
