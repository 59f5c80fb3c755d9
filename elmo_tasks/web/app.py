"""The HTTP interface, an ASGI application: routes, limits and clear errors."""

import asyncio
import json
import logging
import re
import sys
import time
from collections.abc import Mapping
from importlib import resources
from typing import Any

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_values import NOT_JSON, json_problem, loaded
from elmo_tasks.tasks import TASKS
from elmo_tasks.web.models import ServedModel
from elmo_tasks.web.worker import Refused

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
    An ASGI application for models, by name. `timeout` is in seconds; `hosts` are
    names of the server besides localhost and IP addresses.
    """

    def __init__(
        self,
        models: Mapping[str, ServedModel],
        *,
        max_bytes: int,
        max_words: int,
        timeout: float,
        hosts: frozenset[str],
        access_log: bool,
    ) -> None:
        about = {
            "tasks": {name: task.page._asdict() for name, task in TASKS.items()},
            "models": [{"name": name, **model.describe()} for name, model in models.items()],
            "limits": {"bytes": max_bytes, "words": max_words},
        }
        folder = resources.files("elmo_tasks.web") / "static"
        self._contents = {path: ((folder / name).read_bytes(), kind) for path, (name, kind) in PAGES.items()}
        self._contents["/api/models"] = json.dumps(about).encode(), JSON
        self._actions = {f"/api/predict/{name}": model for name, model in models.items()}
        self._contents["/health"] = b'{"status": "ok"}', JSON
        self._timeout, self._max_bytes, self._max_words = timeout, max_bytes, max_words
        self._hosts, self._access_log = hosts, access_log

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request."""
        start, path, status, headers = time.monotonic(), scope["path"], 200, {}
        try:
            body, kind = await self._answer(scope["method"], path, dict(scope["headers"]), receive)
        except Exception as error:
            status = error.status if isinstance(error, Refused) else 422 if isinstance(error, InputError) else 500
            if status == 500:
                logging.getLogger(__name__).exception("internal error")
            body, kind = json.dumps({"error": str(error) if status != 500 else "internal error"}).encode(), JSON
        if status == 405:
            headers["Allow"] = "POST" if path in self._actions else "GET, HEAD"
        if status in (429, 503):
            headers["Retry-After"] = "1"
        headers |= {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}
        encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": encoded})
        await send({"type": "http.response.body", "body": body})
        if self._access_log:
            seconds = time.monotonic() - start
            sys.stderr.write(f"{scope['method']} {scope['raw_path'].decode()[:200]} {status} {1000 * seconds:.0f} ms\n")

    async def _answer(self, method: str, path: str, headers: Mapping[bytes, bytes], receive: Any) -> tuple[bytes, str]:
        """The body of an answer and its type. Raises `Refused` and `InputError`."""
        self._check_sender(*(headers.get(name, b"").decode("latin-1").lower() for name in (b"host", b"origin")))
        if path not in (known := {*self._contents, *self._actions}):
            raise Refused(404, f"expected one of {', '.join(sorted(known))}, got {shown(path)}")
        methods = ("POST",) if path in self._actions else ("GET", "HEAD")
        if method not in methods:
            raise Refused(405, f"expected the method {' or '.join(methods)}, got {shown(method)}")
        if path in self._contents:
            return self._contents[path]
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != JSON.encode():  # another site's page cannot send this type without asking first
            raise Refused(415, f"expected Content-Type: {JSON}, got {shown(kind.decode('latin-1'))}")
        return await self._compute(self._actions[path], receive), JSON

    def _check_sender(self, host: str, origin: str) -> None:
        """Raises `Refused` if the host has an unknown name (DNS rebinding), or the origin is another site's page."""
        if not (_LOCAL.fullmatch(name := re.sub(r":\d*$", "", host)) or self._hosts & {name, host}):
            raise Refused(400, f"unknown host {shown(host)} (serve --allowed-host NAME allows it)")
        if origin and (site := origin.partition("://")[2]) != host and site not in self._hosts:
            raise Refused(403, f"unknown origin {shown(origin)} (serve --allowed-host NAME allows it)")

    async def _compute(self, model: ServedModel, receive: Any) -> bytes:
        try:
            data = loaded((await self._body(receive)).decode())
        except NOT_JSON as error:
            raise Refused(400, f"expected JSON: {json_problem(error)}") from None
        words = model.words(data)
        if words > self._max_words:
            raise InputError(f"expected at most {self._max_words:,} words, got {words:,}")
        gone = asyncio.ensure_future(receive())  # the body was read: the next message is that the client left
        try:
            return await model.worker.answer(data, words, gone=gone, timeout=self._timeout)
        finally:
            gone.cancel()

    async def _body(self, receive: Any) -> bytes:
        body, size, most, more = bytearray(), 0, self._max_bytes, True
        try:
            async with asyncio.timeout(self._timeout):
                while more and size <= 8 * most:  # up to there the client can send everything, and sees the answer
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(499, "the client has left")
                    piece, more = message.get("body", b""), message.get("more_body", False)
                    size += len(piece)
                    body += piece if size <= most else b""
        except TimeoutError:
            raise Refused(408, f"no complete request in {self._timeout:g} seconds") from None
        if size > most:
            raise Refused(413, f"expected a body of at most {most:,} bytes, got more")
        return bytes(body)
