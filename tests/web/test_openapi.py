"""`/openapi.json` is true of what the server takes and answers."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator

from elmo_tasks.tasks import TASKS
from tests.archives.make import INPUTS, STORED
from tests.web.serving import ODD_NAME, Reply, Server, serving

pytestmark = pytest.mark.slow

VALID: dict[str, list[Any]] = {
    "ner": [{"sentence": "Mira left.", "id": {"any": [1, None]}}],
    "srl": [{"tokens": ["Mira", "left"], "predicates": []}],
    "snli": [{"premise": ["a"] * 50, "hypothesis": "b", "id": "x"}],
    "coref": [{"sentences": [["a"]], "speakers": [["b"]], "genre": "bc"}],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    archives: list[Any] = [STORED / "1" / f"{task}.tar.gz" for task in INPUTS]
    archives.append(f"{ODD_NAME}={STORED}/1/sst.tar.gz")
    with serving(*archives, "--timeout", 600) as running:
        yield running


@pytest.fixture(scope="module")
def document(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(server.send("/openapi.json").body)
    return found


def validator(document: dict[str, Any], schema: Any) -> Draft202012Validator:
    """Of a schema in the document, whose references it resolves."""
    whole = {"components": document["components"], "allOf": [schema]}
    Draft202012Validator.check_schema(whole)
    return Draft202012Validator(whole)


def assert_documented(
    document: dict[str, Any], path: str, method: str, reply: Reply
) -> None:
    """The status, the type and the body of an answer are those of the document."""
    answer = document["paths"][path][method]["responses"][str(reply.status)]
    kind = reply.headers.get_content_type()
    schema = answer["content"][kind]["schema"]
    value: Any = reply.body.decode()
    if kind == "application/json":
        value = json.loads(value)
    validator(document, schema).validate(value)


def test_every_path_answers_as_it_says(
    server: Server, document: dict[str, Any]
) -> None:
    models = [*INPUTS, ODD_NAME]
    paths = {"/health", "/api/models", *[f"/api/predict/{name}" for name in models]}
    assert set(document["paths"]) == paths
    for path, methods in document["paths"].items():
        (method,) = methods
        address = quote(path)
        reply = server.send(address, {} if method == "post" else None, method.upper())
        assert reply.status == (422 if method == "post" else 200)
        assert_documented(document, path, method, reply)
        for other in {"get", "post", "put", "delete", "options"} - {method}:
            reply = server.send(
                address, None, other.upper(), **{"Content-Type": "application/json"}
            )
            assert reply.status == 405
            assert reply.headers["Allow"] == method.upper()
            assert json.loads(reply.body) == {"error": "Method Not Allowed"}


def test_the_page_of_the_interface_needs_no_other_host(server: Server) -> None:
    named = re.findall(r'(?:src|href)="([^"]+)"', server.send("/docs").body.decode())
    assert len(named) >= 3
    for address in named:
        assert address.startswith("/")
        assert server.send(address).status == 200


@pytest.mark.parametrize("task", INPUTS)
def test_requests_and_answers_are_those_of_the_schemas(
    task: str, server: Server, document: dict[str, Any]
) -> None:
    path = f"/api/predict/{task}"
    content = document["paths"][path]["post"]["requestBody"]["content"]
    takes = validator(document, content["application/json"]["schema"])
    drawn = [example.input for example in TASKS[task].examples]
    for valid in [INPUTS[task], *drawn, *VALID.get(task, [])]:
        assert takes.is_valid(valid), valid
        reply = server.send(path, valid)
        assert reply.status == 200, reply.body
        assert_documented(document, path, "post", reply)
