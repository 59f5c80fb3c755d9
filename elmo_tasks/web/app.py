"""The HTTP interface, an ASGI application: the page, predictions as JSON, and clear errors."""

import asyncio
import contextlib
import json
import logging
import math
import re
from collections.abc import AsyncIterator, Mapping
from importlib import resources
from typing import Any

from elmo_tasks.errors import one_line, shown
from elmo_tasks.formats.json_values import parse_json
from elmo_tasks.tasks import TASKS
from elmo_tasks.web.models import Refused, ServedModel

MAX_BYTES = 20_000
"""Of a request's body; the limits of a task's page bound what it costs."""

JSON = "application/json"
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
"""Hosts that are always allowed: a page elsewhere has none of them. Browsers always send one, probes need not."""


class Service:
    """
    An ASGI application for models, by name, which `described` shows on the page. `host` is a name of the server besides
    localhost and IP addresses. A body has to arrive, and its answer to be there, within `timeout` seconds each.
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
            "tasks": {name: task.page._asdict() for name, task in TASKS.items()},
            "models": [{"name": name, **one} for name, one in described.items()],
            "limits": {"bytes": MAX_BYTES, "seconds": timeout},
        }
        folder = resources.files("elmo_tasks.web") / "static"
        self._contents = {
            path: ((folder / name).read_bytes(), kind)
            for path, (name, kind) in PAGES.items()
        }
        self._contents["/api/models"] = json.dumps(about).encode(), JSON
        self._contents["/health"] = b'{"status": "ok"}', JSON
        self._models = {f"/api/predict/{name}": model for name, model in models.items()}
        self._host = host.lower()
        self._timeout = timeout
        self._limits: set[asyncio.Timeout] = set()
        self._end = math.inf

    def end_within(self, seconds: float) -> None:
        """From now on every request has at most this time, also those that are being answered."""
        self._end = asyncio.get_running_loop().time() + seconds
        for limit in self._limits:
            if not limit.expired() and (limit.when() or math.inf) > self._end:
                limit.reschedule(self._end)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request."""
        status, retry = 200, None
        try:
            status, body, kind = await self._answer(scope, receive)
        except Exception as error:
            problem = one_line(error)
            if problem is None:
                logging.getLogger(__name__).exception("internal error")
            status = 500 if problem is None else getattr(error, "status", 422)
            retry = getattr(error, "retry", None)
            body = json.dumps({"error": problem or "internal error"}).encode()
            kind = JSON
        headers = {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}
        if retry is not None:
            headers["Retry-After"] = str(retry)
        encoded = [
            (name.lower().encode(), value.encode()) for name, value in headers.items()
        ]
        await send(
            {"type": "http.response.start", "status": status, "headers": encoded}
        )
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Any, receive: Any) -> tuple[int, bytes, str]:
        """The status of an answer, its body and its type. Raises `InputError`."""
        headers = {
            name: value.decode("latin-1").lower() for name, value in scope["headers"]
        }
        host = re.sub(r":\d*$", "", headers.get(b"host", ""))
        if not _LOCAL.fullmatch(host) and host != self._host:  # DNS rebinding
            raise Refused(400, f"unknown host {shown(host)}")
        path, known = scope["path"], {**self._contents, **self._models}
        if path not in known:
            raise Refused(
                404, f"expected one of {', '.join(sorted(known))}, got {shown(path)}"
            )
        method = "POST" if path in self._models else "GET"
        if scope["method"] != method:
            raise Refused(
                405, f"expected the method {method}, got {shown(scope['method'])}"
            )
        if path in self._contents:
            return 200, *self._contents[path]
        if headers.get(b"content-type", "").partition(";")[0].strip() != JSON:
            # another site's page cannot send this type: the browser asks first
            raise Refused(415, f"expected Content-Type: {JSON}")
        status, answer = await self._predict(self._models[path], receive)
        return status, answer, JSON

    async def _predict(self, model: ServedModel, receive: Any) -> tuple[int, bytes]:
        """The status and the body of a model's answer. Raises `InputError`."""
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

    @contextlib.asynccontextmanager
    async def _at_most(self, seconds: float, late: Refused) -> AsyncIterator[None]:
        """Cancels what it contains after so many seconds, or when the server ends, and raises `late`."""
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


async def _body(receive: Any) -> bytes:
    body, more = b"", True
    while more and len(body) <= MAX_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the client has closed the connection")
        body, more = body + message.get("body", b""), message.get("more_body", False)
    if len(body) > MAX_BYTES:
        raise Refused(413, f"expected a body of at most {MAX_BYTES:,} bytes, got more")
    return body


async def _disconnect(receive: Any) -> None:
    """Returns when the client closes the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
