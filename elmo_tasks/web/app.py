"""
The HTTP interface, a FastAPI application: the page, predictions as JSON, and one clear
line for each error.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi_offline import FastAPIOffline
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from elmo_tasks.errors import one_line
from elmo_tasks.formats.json_files import parse_json
from elmo_tasks.system.version import __version__
from elmo_tasks.tasks.inputs import problem_of
from elmo_tasks.tasks.task import Task
from elmo_tasks.web.guard import DOCS, MAX_BYTES, Guard, Hosts, problem_response
from elmo_tasks.web.loaded import LoadedModel
from elmo_tasks.web.records import OtherModels, read_examples, record_of

logger = logging.getLogger(__name__)

ANSWERS = "/answers.js"
PAGES = {
    "/": ("page.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    ANSWERS: ("answers.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
ERRORS = {
    400: "The body cannot be read.",
    413: "The body is too large.",
    422: "The input is not valid, or exceeds a limit.",
    500: "The server failed.",
    503: "The model is busy, or there are too many requests.",
}
"""Of predictions, by status."""


class ErrorBody(BaseModel):
    """An error, in one line."""

    error: str


def make_app(
    models: Mapping[str, LoadedModel],
    *,
    hosts: Sequence[str],
    seconds: float,
    examples: str | None = None,
) -> FastAPI:
    """
    The application for models, by name. `hosts` are the names of the server that a
    request may have. The model has to be free within `seconds`. `examples` is a file of
    inputs that the page shows. Raises `InputError` if it has others.
    """
    app = FastAPIOffline(
        docs_url=DOCS,
        redoc_url=None,
        title="elmo-tasks serve",
        description="Predictions of trained models.",
        version=__version__,
    )
    described = {name: model.describe() for name, model in models.items()}
    for one in described.values():
        if one["page"] is not None:  # of two routes, the first is taken
            _add_page(app, ANSWERS, one["page"]["script"], "text/javascript")
    static = resources.files("elmo_tasks.web") / "static"
    for path, (name, kind) in PAGES.items():
        _add_page(app, path, (static / name).read_text("utf-8"), kind)
    about = _about(models, described, seconds, examples)

    def list_models() -> dict[str, Any]:
        """The tasks, with their examples and limits, and the models."""
        return about

    def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"status": "ok"}

    app.get("/api/models")(list_models)
    app.get("/health")(health)
    kinds: dict[str, type[BaseModel]] = {}
    for name, model in models.items():
        record = record_of(described[name])
        path = f"/api/predict/{name}"
        kinds[path] = record.input
        limits = {"bytes": MAX_BYTES} | record.page.limits
        most = ", ".join([f"{count:,} {what}" for what, count in limits.items()])
        app.add_api_route(
            path,
            _answerer(model, record.input, seconds),
            methods=["POST"],
            summary=f"Predict with {name}",
            description=f"{record.page.about} An input has at most {most}.",
            responses=_responses(record),
        )
    _add_errors(app, kinds)
    app.add_middleware(Hosts, allowed_hosts=list(hosts), www_redirect=False)
    app.add_middleware(Guard)  # the first that a request meets
    return app


def _add_page(app: FastAPI, path: str, content: str, kind: str) -> None:
    """A file of the page."""

    def page() -> Response:
        return Response(content, media_type=kind)

    app.get(path, include_in_schema=False)(page)


def _about(
    models: Mapping[str, LoadedModel],
    described: Mapping[str, Mapping[str, Any]],
    seconds: float,
    examples: str | None,
) -> dict[str, Any]:
    """What the page knows."""
    tasks: dict[str, dict[str, Any]] = {}
    listed = []
    for name, one in described.items():
        if one["task"] not in tasks:
            tasks[one["task"]] = _tab(record_of(one))
        if not models[name].is_of_synthetic_data:  # of which the examples say nothing
            tasks[one["task"]]["examples"] = []
        shown = {key: value for key, value in one.items() if key != "page"}
        listed.append({"name": name} | shown)
    if examples is not None:
        own = read_examples(examples, list(described.values()))
        for tab in tasks.values():
            tab |= {"examples": own, "source": Path(examples).name}
    return {
        "tasks": tasks,
        "models": listed,
        "limits": {"bytes": MAX_BYTES, "seconds": seconds},
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


def _responses(record: Task | OtherModels) -> dict[int | str, dict[str, Any]]:
    """The answers of a model, by status."""
    found: dict[int | str, dict[str, Any]] = {200: {"model": record.output}}
    for status, about in ERRORS.items():
        found[status] = {"model": ErrorBody, "description": about}
    return found


def _answerer(
    model: LoadedModel, kind: type[BaseModel], seconds: float
) -> Callable[..., Any]:
    """The function that answers requests to a model, one at a time."""
    lock = asyncio.Lock()

    async def answer(data: kind, request: Request) -> Response:  # type: ignore[valid-type]
        try:
            async with asyncio.timeout(seconds):
                await lock.acquire()
        except TimeoutError:
            problem = f"the model is busy: no turn within {seconds:g} seconds"
            raise HTTPException(503, problem, {"Retry-After": "1"}) from None
        try:
            if await request.is_disconnected():
                raise HTTPException(400, "the client has closed the connection")
            given = parse_json(await request.body())  # read before, to check `data`
            body = await run_in_threadpool(model.answer, given)
        except Exception as error:
            raise _failure(error) from error
        finally:
            lock.release()
        return Response(body, media_type="application/json")

    return answer


def _failure(error: Exception) -> HTTPException:
    """What an error says of the input; status 500 if it is one of the program."""
    if isinstance(error, HTTPException):
        return error
    problem = one_line(error)
    if isinstance(error, RecursionError):
        problem = "the input is nested too deeply"
    if problem is None:
        logger.error("internal error", exc_info=error)
        return HTTPException(500, "internal error")
    return HTTPException(422, problem)


def _add_errors(app: FastAPI, kinds: Mapping[str, type[BaseModel]]) -> None:
    """Each error is an object with the key `error`, one line."""

    @app.exception_handler(RequestValidationError)
    def not_valid(request: Request, error: RequestValidationError) -> Response:
        problem = _problem_of(error, kinds[request.scope["path"]])
        return problem_response(HTTPException(422, problem))

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        return problem_response(error)

    @app.exception_handler(Exception)
    def failed(request: Request, error: Exception) -> Response:
        return problem_response(_failure(error))


def _problem_of(error: RequestValidationError, kind: type[BaseModel]) -> str:
    """What is wrong with the body of a request."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return f"expected JSON: {first['ctx']['error']}"
    if first["type"] == "missing" and first["loc"] == ("body",):
        return "expected a JSON object, got none"
    if isinstance(first["input"], bytes):
        return "expected a JSON object, sent with Content-Type: application/json"
    return problem_of(first | {"loc": first["loc"][1:]}, kind.model_fields)
