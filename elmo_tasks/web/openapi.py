"""
The description of the HTTP interface, OpenAPI 3.1, for the models that a server has.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import elmo_tasks
from elmo_tasks.tasks import TASKS
from elmo_tasks.web.other_models import OTHERS, record_of

ERRORS = {
    400: "The request names another host, or its client closed the connection.",
    405: "The path does not have this method.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The Content-Type is not JSON.",
    422: "The input is not valid, or exceeds a limit.",
    500: "The server failed.",
    503: "The model is busy, too slow, or being started again.",
}
"""By status."""

OF_GET = (400, 405, 500)
OF_PREDICTIONS = tuple(ERRORS)
ALLOW = {
    "description": "The methods that the path has.",
    "schema": {"type": "string"},
}
RETRY = {
    "description": "Seconds to wait before another attempt.",
    "schema": {"type": "integer", "minimum": 1},
}

TEXT = {
    "type": "string",
    "description": "At least one word, without NUL characters and surrogates.",
    "pattern": "^[^\\u0000]*[^\\u0000\\s][^\\u0000]*$",
}
WORDS = {
    "type": "array",
    "items": {"$ref": "#/components/schemas/Text"},
    "minItems": 1,
}
ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string"}},
    "required": ["error"],
}

Part = dict[str, Any]


def describe(models: Mapping[str, Mapping[str, Any]], *, bytes_: int) -> Part:
    """
    The OpenAPI document for these models, by name, with the `task` of each.
    `bytes_` limits a request's body.
    """
    paths: Part = {
        "/": _get("The page", "text/html", {"type": "string"}),
        "/page.js": _get("Its script", "text/javascript", {"type": "string"}),
        "/page.css": _get("Its style", "text/css", {"type": "string"}),
        "/api/models": _get(
            "The tasks, with their examples and limits, and the models",
            "application/json",
            _models(),
        ),
        "/health": _get(
            "Whether the server answers",
            "application/json",
            {"type": "object", "properties": {"status": {"const": "ok"}}},
        ),
        "/metrics": _get(
            "Counters in the text format of Prometheus",
            "text/plain",
            {"type": "string"},
        ),
        "/openapi.json": _get("This document", "application/json", {"type": "object"}),
    }
    schemas: Part = {"Text": TEXT, "Words": WORDS, "Error": ERROR}
    for name, model in models.items():
        task = model["task"]
        schemas[f"{task}.input"] = record_of(task).schema["input"]
        schemas[f"{task}.output"] = record_of(task).schema["output"]
        path = f"/api/predict/{quote(name, safe='')}"
        paths[path] = _prediction(name, task, bytes_)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "elmo-tasks serve",
            "description": "Predictions of trained models.",
            "version": elmo_tasks.__version__,
        },
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _get(about: str, kind: str, schema: Part) -> Part:
    answers: Part = {
        "200": {"description": about, "content": {kind: {"schema": schema}}}
    }
    answers |= _errors(OF_GET)
    without = f"{about}, without the body"
    return {
        "get": {"summary": about, "responses": answers},
        "head": {"summary": without, "responses": _without_content(answers)},
    }


def _without_content(answers: Part) -> Part:
    """Answers to HEAD, which have no body."""
    found: Part = {}
    for status, answer in answers.items():
        found[status] = {key: answer[key] for key in answer if key != "content"}
    return found


def _prediction(name: str, task: str, bytes_: int) -> Part:
    record = record_of(task)
    limits = {"bytes": bytes_} | record.page.limits
    most = ", ".join([f"{count:,} {what}" for what, count in limits.items()])
    examples = {}
    for number, example in enumerate(record.examples, 1):
        examples[f"{task} {number}"] = {"value": example.input}
    given = {"schema": _reference(f"{task}.input"), "examples": examples}
    found = {"schema": _reference(f"{task}.output")}
    answers = {
        "200": {
            "description": "The answer of the model",
            "content": {"application/json": found},
        }
    }
    return {
        "post": {
            "summary": f"Predict with {name}",
            "description": f"{record.page.about} An input has at most {most}.",
            "requestBody": {"required": True, "content": {"application/json": given}},
            "responses": answers | _errors(OF_PREDICTIONS),
        }
    }


def _errors(statuses: tuple[int, ...]) -> Part:
    content = {"application/json": {"schema": _reference("Error")}}
    found: Part = {}
    for status in statuses:
        found[str(status)] = {"description": ERRORS[status], "content": content}
    found["405"]["headers"] = {"Allow": ALLOW}
    if "503" in found:
        found["503"]["headers"] = {"Retry-After": RETRY}
    return found


def _reference(name: str) -> Part:
    return {"$ref": f"#/components/schemas/{name}"}


def _models() -> Part:
    """Of the answer to `/api/models`."""
    number = {"type": "number"}
    mix = {
        "type": "object",
        "properties": {
            "at": {"enum": ["input", "output"]},
            "weights": {"type": "array", "items": number},
            "gamma": number,
        },
        "required": ["at", "weights", "gamma"],
    }
    model = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "task": {"enum": [*TASKS, *OTHERS]},
            "mix": {
                "type": ["array", "null"],
                "items": mix,
                "description": "For each place of ELMo; empty without ELMo; null for"
                " a model of another package.",
            },
            "judged": {
                "type": "boolean",
                "description": "Whether the labels of the model contain those of the"
                " examples' gold answers. If not, the page shows no scores.",
            },
        },
        "required": ["name", "task", "mix", "judged"],
    }
    example = {
        "type": "object",
        "properties": {
            "input": {"type": "object"},
            "gold": {"type": ["object", "null"]},
        },
        "required": ["input", "gold"],
    }
    limits = {"type": "object", "additionalProperties": {"type": "integer"}}
    task = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "about": {"type": "string"},
            "limits": limits,
            "examples": {"type": "array", "items": example},
        },
        "required": ["title", "about", "limits", "examples"],
    }
    return {
        "type": "object",
        "properties": {
            "tasks": {"type": "object", "additionalProperties": task},
            "models": {"type": "array", "items": model},
            "limits": {"type": "object", "additionalProperties": number},
        },
        "required": ["tasks", "models", "limits"],
    }
