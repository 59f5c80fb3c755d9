"""
The HTTP interface, an ASGI application: the page, predictions as JSON, and clear
errors.
"""

import asyncio
import contextlib
import json
import logging
import math
import re
import time
from collections.abc import AsyncIterator, Mapping
from importlib import resources
from typing import Any

from elmo_tasks.errors import one_line, shown
from elmo_tasks.formats.json_values import parse_json
from elmo_tasks.tasks import TASKS, Task
from elmo_tasks.web import openapi
from elmo_tasks.web.metrics import OTHER, Metrics
from elmo_tasks.web.models import Refused, ServedModel
from elmo_tasks.web.other_models import OTHERS, OtherModels

MAX_BYTES = 20_000
"""Of a request's body; the limits of a task's page bound what it costs."""

READ = ("GET", "HEAD")
"""The methods of a path that is read. The server leaves out the body for HEAD."""

JSON = "application/json"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
PAGES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

_LOCAL = re.compile(r"|localhost|[\d.]+|\[[\da-f:.]+\]")
"""
Hosts that are always allowed: a page elsewhere has none of them. Browsers always send
one, probes need not.
"""


class Service:
    """
    An ASGI application for models, by name, which `described` shows on the page. `host`
    is a name of the server besides localhost and IP addresses. A body has to arrive,
    and its answer to be there, within `timeout` seconds each.
    """

    def __init__(
        self,
        models: Mapping[str, ServedModel],
        described: Mapping[str, Mapping[str, Any]],
        *,
        host: str,
        timeout: float,
    ) -> None:
        about = {
            "tasks": {name: _tab(one) for name, one in (TASKS | OTHERS).items()},
            "models": [{"name": name} | dict(one) for name, one in described.items()],
            "limits": {"bytes": MAX_BYTES, "seconds": timeout},
        }
        self._contents: dict[str, tuple[bytes, str]] = {}
        """Body and type of what is answered to GET, by path."""
        folder = resources.files("elmo_tasks.web") / "static"
        for path, (name, kind) in PAGES.items():
            self._contents[path] = (folder / name).read_bytes(), kind
        self._contents["/api/models"] = json.dumps(about).encode(), JSON
        document = openapi.describe(described, bytes_=MAX_BYTES)
        self._contents["/openapi.json"] = json.dumps(document).encode(), JSON
        self._contents["/health"] = b'{"status": "ok"}', JSON
        self._models: dict[str, tuple[str, ServedModel]] = {}
        """Name and model, by path."""
        for name, model in models.items():
            self._models[f"/api/predict/{name}"] = name, model
        self._metrics = Metrics(models)
        self._host = host.lower()
        self._timeout = timeout
        self._limits: set[asyncio.Timeout] = set()
        self._end = math.inf

    def end_within(self, seconds: float) -> None:
        """
        From now on every request has at most this time, also those that are being
        answered.
        """
        self._end = asyncio.get_running_loop().time() + seconds
        for limit in self._limits:
            if not limit.expired() and (limit.when() or math.inf) > self._end:
                limit.reschedule(self._end)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request."""
        headers = dict(HEADERS)
        try:
            status, body, kind = await self._answer(scope, receive)
        except Exception as error:
            status, body, kind = _failure(error)
            if isinstance(error, Refused):
                headers |= error.headers
        self._count(scope["path"], status)
        headers["Content-Type"] = kind
        headers["Content-Length"] = str(len(body))
        encoded = []
        for name, value in headers.items():
            encoded.append((name.lower().encode(), value.encode()))
        await send(
            {"type": "http.response.start", "status": status, "headers": encoded}
        )
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Any, receive: Any) -> tuple[int, bytes, str]:
        """The status of an answer, its body and its type. Raises `InputError`."""
        host = re.sub(r":\d*$", "", _header(scope, b"host"))
        if not _LOCAL.fullmatch(host) and host != self._host:  # DNS rebinding
            raise Refused(400, f"unknown host {shown(host)}")
        path = scope["path"]
        if path in self._contents:
            _require_method(scope, *READ)
            body, kind = self._contents[path]
            return 200, body, kind
        if path == "/metrics":
            _require_method(scope, *READ)
            return 200, self._metrics.text().encode(), METRICS
        if path in self._models:
            _require_method(scope, "POST")
            # Another site's page cannot send this type: the browser asks first.
            if _header(scope, b"content-type").partition(";")[0].strip() != JSON:
                raise Refused(415, f"expected Content-Type: {JSON}")
            name, model = self._models[path]
            status, answer = await self._predict(name, model, receive)
            return status, answer, JSON
        known = sorted({"/metrics", *self._contents, *self._models})
        raise Refused(404, f"expected one of {', '.join(known)}, got {shown(path)}")

    def _count(self, path: str, status: int) -> None:
        """Counts an answer."""
        is_known = path in self._contents or path in self._models
        if not is_known and path != "/metrics":
            path = OTHER
        self._metrics.answered(path, status)

    async def _predict(
        self, name: str, model: ServedModel, receive: Any
    ) -> tuple[int, bytes]:
        """
        The status and the body of a model's answer, whose time is counted. Raises
        `InputError`.
        """
        began = time.monotonic()
        late = f"expected the whole body within {self._timeout:g} seconds"
        async with self._at_most(self._timeout, Refused(408, late)):
            body = await _body(receive)
        # the predictors reject what is not UTF-8
        data = parse_json(body.decode(errors="surrogateescape"))
        late = f"no answer within {self._timeout:g} seconds"
        gone = asyncio.create_task(_disconnect(receive))
        try:
            async with self._at_most(self._timeout, model.unavailable(late)):
                # who waits longer would be cut short
                wait = self._timeout / 2
                return await model.answer(data, wait=wait, gone=gone.done)
        finally:
            gone.cancel()
            self._metrics.predicted(name, time.monotonic() - began)

    @contextlib.asynccontextmanager
    async def _at_most(self, seconds: float, late: Refused) -> AsyncIterator[None]:
        """
        Cancels what it contains after so many seconds, or when the server ends, and
        raises `late`.
        """
        until = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(min(until, self._end)) as limit:
                self._limits.add(limit)
                try:
                    yield
                finally:
                    self._limits.discard(limit)
        except TimeoutError:
            raise late from None


def _tab(task: Task | OtherModels) -> dict[str, Any]:
    """What the page shows of a task."""
    examples = [example._asdict() for example in task.examples]
    return task.page._asdict() | {"examples": examples}


def _failure(error: Exception) -> tuple[int, bytes, str]:
    """The status, the body and its type for an error."""
    problem = one_line(error)
    if problem is None:
        logging.getLogger(__name__).error("internal error", exc_info=error)
        status, problem = 500, "internal error"
    elif isinstance(error, Refused):
        status = error.status
    else:
        status = 422
    return status, json.dumps({"error": problem}).encode(), JSON


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


def _require_method(scope: Any, *methods: str) -> None:
    if scope["method"] not in methods:
        problem = f"expected the method {' or '.join(methods)}"
        raise Refused(
            405, f"{problem}, got {shown(scope['method'])}", allow=", ".join(methods)
        )


async def _body(receive: Any) -> bytes:
    body = b""
    more = True
    while more and len(body) <= MAX_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the client has closed the connection")
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if len(body) > MAX_BYTES:
        raise Refused(413, f"expected a body of at most {MAX_BYTES:,} bytes, got more")
    return body


async def _disconnect(receive: Any) -> None:
    """Returns when the client closes the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
