"""The HTTP interface, an ASGI application: the page, predictions as JSON, and clear errors."""

import json
import logging
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from elmo_tasks.errors import InputError, one_line, shown
from elmo_tasks.formats.json_values import parse_json
from elmo_tasks.tasks import TASKS
from elmo_tasks.web.models import ServedModel

MAX_BYTES = 20_000
"""Of a request's body, which bounds the time and the memory of an answer."""

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


class Refused(InputError):
    """A request without an answer, with its HTTP status; other errors of the input have 422."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


class Service:
    """
    An ASGI application for models, by name. `host` is a name of the server besides localhost and IP addresses.
    """

    def __init__(self, models: Mapping[str, ServedModel], *, host: str) -> None:
        about = {
            "tasks": {name: task.page._asdict() for name, task in TASKS.items()},
            "models": [
                {"name": name, **model.describe()} for name, model in models.items()
            ],
            "limits": {"bytes": MAX_BYTES},
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

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request."""
        status = 200
        try:
            body, kind = await self._answer(scope, receive)
        except Exception as error:
            problem = one_line(error)
            if problem is None:
                logging.getLogger(__name__).exception("internal error")
            status = 500 if problem is None else getattr(error, "status", 422)
            body, kind = (
                json.dumps({"error": problem or "internal error"}).encode(),
                JSON,
            )
        headers = {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}
        encoded = [
            (name.lower().encode(), value.encode()) for name, value in headers.items()
        ]
        await send(
            {"type": "http.response.start", "status": status, "headers": encoded}
        )
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Any, receive: Any) -> tuple[bytes, str]:
        """The body of an answer and its type. Raises `InputError`."""
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
            return self._contents[path]
        if headers.get(b"content-type", "").partition(";")[0].strip() != JSON:
            # another site's page cannot send this type: the browser asks first
            raise Refused(415, f"expected Content-Type: {JSON}")
        body = await _body(receive)
        data = parse_json(
            body.decode(errors="surrogateescape")
        )  # which the predictors reject
        return await self._models[path].answer(data), JSON


async def _body(receive: Any) -> bytes:
    body, more = b"", True
    while more and len(body) <= MAX_BYTES:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    if len(body) > MAX_BYTES:
        raise Refused(413, f"expected a body of at most {MAX_BYTES:,} bytes, got more")
    return body
