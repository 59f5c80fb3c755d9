"""
The HTTP interface, a FastAPI application: the page, predictions as JSON, and one clear
line for each error.
"""

import logging
import time
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from fastapi_offline import FastAPIOffline
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from elmo_tasks.errors import shown
from elmo_tasks.system.version import __version__
from elmo_tasks.tasks import TASKS
from elmo_tasks.tasks.inputs import problem_of
from elmo_tasks.tasks.task import Task
from elmo_tasks.web.guard import DOCS, MAX_BYTES, Guard, problem_response
from elmo_tasks.web.metrics import CONTENT_TYPE, Metrics
from elmo_tasks.web.models import ServedModel
from elmo_tasks.web.other_models import OtherModels, record_of

logger = logging.getLogger(__name__)

ANSWERS = "/answers.js"
PAGES = {
    "/": ("page.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    ANSWERS: ("answers.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
ERRORS = {
    400: "The request names another host, or cannot be read.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The Content-Type is not JSON.",
    422: "The input is not valid, or exceeds a limit.",
    500: "The server failed.",
    503: "The model is busy, too slow, or being started again.",
}
"""Of predictions, by status."""


class ErrorBody(BaseModel):
    """An error, in one line."""

    error: str


def make_app(
    models: Mapping[str, ServedModel],
    described: Mapping[str, Mapping[str, Any]],
    *,
    host: str,
    timeout: float,
    own: Mapping[str, Mapping[str, Any]],
) -> FastAPI:
    """
    The application for models, by name, which `described` shows on the page. `host` is
    a name of the server besides localhost and IP addresses. A body has to arrive, and
    its answer to be there, within `timeout` seconds each. `own` replaces what the page
    knows of a task.
    """
    app = FastAPIOffline(
        docs_url=DOCS,
        redoc_url=None,
        title="elmo-tasks serve",
        description="Predictions of trained models.",
        version=__version__,
    )
    for one in described.values():
        if one["page"] is not None:  # of two routes, the first is taken
            _add_page(app, ANSWERS, one["page"]["script"], "text/javascript")
    static = resources.files("elmo_tasks.web") / "static"
    for path, (name, kind) in PAGES.items():
        _add_page(app, path, (static / name).read_text("utf-8"), kind)
    about = _about(described, timeout, own)
    metrics = Metrics(models)

    def list_models() -> dict[str, Any]:
        """The tasks, with their examples and limits, and the models."""
        return about

    def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"status": "ok"}

    def counters() -> Response:
        """Counters in the text format of Prometheus."""
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    app.get("/api/models")(list_models)
    app.get("/health")(health)
    app.get("/metrics", response_class=PlainTextResponse)(counters)
    kinds: dict[str, type[BaseModel]] = {}
    for name, model in models.items():
        record = record_of(described[name])
        answer = _answerer(name, model, record, timeout=timeout, metrics=metrics)
        path = f"/api/predict/{name}"
        kinds[path] = record.input
        app.add_api_route(
            path,
            answer,
            methods=["POST"],
            summary=f"Predict with {name}",
            description=_limits_of(record),
            responses=_responses(record),
        )
    _add_errors(app, kinds)
    metrics.paths = {getattr(route, "path", "") for route in app.routes}
    app.add_middleware(Guard, host=host.lower(), timeout=timeout, metrics=metrics)
    return app


def _add_page(app: FastAPI, path: str, content: str, kind: str) -> None:
    """A file of the page."""

    def page() -> Response:
        return Response(content, media_type=kind)

    app.get(path, include_in_schema=False)(page)


def _about(
    described: Mapping[str, Mapping[str, Any]],
    timeout: float,
    own: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """What the page knows."""
    records: dict[str, Task | OtherModels] = dict(TASKS)
    models = []
    for name, one in described.items():
        records[one["task"]] = record_of(one)
        shown = {key: value for key, value in one.items() if key != "page"}
        models.append({"name": name} | shown)
    tasks = {}
    for name, record in records.items():
        tasks[name] = _tab(record) | dict(own.get(name, {}))
    return {
        "tasks": tasks,
        "models": models,
        "limits": {"bytes": MAX_BYTES, "seconds": timeout},
    }


def _tab(record: Task | OtherModels) -> dict[str, Any]:
    """What the page shows of a task."""
    metric = None
    if isinstance(record, Task):
        boxes = record.input.boxes()
        metric = record.metric
    else:
        boxes = list(record.boxes)
    return record.page._asdict() | {
        "metric": metric,
        "boxes": [(key, *box) for key, box in boxes],
        "examples": [example._asdict() for example in record.examples],
        "source": None,  # a file of the user's
    }


def _limits_of(record: Task | OtherModels) -> str:
    """What a prediction does, and the largest input."""
    limits = {"bytes": MAX_BYTES} | record.page.limits
    most = ", ".join([f"{count:,} {what}" for what, count in limits.items()])
    return f"{record.page.about} An input has at most {most}."


def _responses(record: Task | OtherModels) -> dict[int | str, dict[str, Any]]:
    """The answers of a model, by status."""
    found: dict[int | str, dict[str, Any]] = {200: {"model": record.output}}
    for status, about in ERRORS.items():
        found[status] = {"model": ErrorBody, "description": about}
    return found


def _answerer(
    name: str,
    model: ServedModel,
    record: Task | OtherModels,
    *,
    timeout: float,
    metrics: Metrics,
) -> Callable[..., Any]:
    """The function that answers requests to a model."""
    kind = record.input

    async def answer(data: kind, request: Request) -> Response:  # type: ignore[valid-type]
        began = time.monotonic()
        given = await request.body()  # read before, to check `data`
        try:
            status, body = await model.answer(
                given, timeout=timeout, is_gone=request.is_disconnected
            )
        finally:
            metrics.predicted(name, time.monotonic() - began)
        return Response(body, status, media_type="application/json")

    return answer


def _add_errors(app: FastAPI, kinds: Mapping[str, type[BaseModel]]) -> None:
    """Each error is an object with the key `error`, one line."""
    known = sorted(app.openapi()["paths"])

    @app.exception_handler(RequestValidationError)
    def not_valid(request: Request, error: RequestValidationError) -> Response:
        problem = _problem_of(error, kinds[request.scope["path"]])
        return problem_response(HTTPException(422, problem))

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404:
            path = shown(request.scope["path"])
            error.detail = f"expected one of {', '.join(known)}, got {path}"
        elif error.status_code == 405 and error.headers is not None:
            method = request.method
            expected = " or ".join(error.headers["Allow"].split(", "))
            error.detail = f"expected the method {expected}, got {shown(method)}"
        return problem_response(error)

    @app.exception_handler(Exception)
    def failed(request: Request, error: Exception) -> Response:
        logger.error("internal error", exc_info=error)
        return problem_response(HTTPException(500, "internal error"))


def _problem_of(error: RequestValidationError, kind: type[BaseModel]) -> str:
    """What is wrong with the body of a request."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return f"expected JSON: {first['ctx']['error']}"
    if first["type"] == "missing" and first["loc"] == ("body",):
        return "expected a JSON object, got none"
    known = kind.model_fields
    return problem_of(first | {"loc": first["loc"][1:]}, known)
