"""The page of `elmo-tasks serve`, in Chromium, for several files of tests."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.archives.make import INPUTS
from tests.web.serving import Server, serving, synthetic

Show = Callable[..., Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("archives")
    archives = [synthetic(task, folder) for task in INPUTS]
    with serving(*archives, f"other={folder}/ner.tar.gz") as running:
        yield running


@pytest.fixture
def show(server: Server, browser: Any) -> Iterator[Show]:
    """
    Opens a link in a new window. In the end: requests went to this server only, no
    cookies, no script failed.
    """
    base = f"http://127.0.0.1:{server.port}/"
    requests: list[str] = []
    problems: list[Any] = []
    contexts: list[Any] = []

    def on_request(request: Any) -> None:
        requests.append(request.url)

    def on_error(error: Any) -> None:
        problems.append(error)

    def on_line(line: Any) -> None:
        if "Security Policy" in line.text:
            problems.append(line.text)

    def show(
        link: dict[str, str],
        answers: Any = (),
        drawn: str = "article",
        models: Any = None,
        **options: Any,
    ) -> Any:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("request", on_request)
        page.on("pageerror", on_error)
        page.on("console", on_line)
        for name, answer in dict(answers).items():
            page.route(f"**/api/predict/{name}", partial(_answer, answer))
        if models is not None:
            page.route("**/api/models", models)
        page.goto(f"{base}#{urlencode(link)}")
        page.wait_for_selector(drawn)
        return page

    yield show
    for context in contexts:
        assert context.cookies() == []
        context.close()
    assert problems == []
    assert requests
    for url in requests:
        assert url.startswith((base, "data:"))


def _answer(answer: Any, route: Any) -> None:
    """Answers in place of the server, by a function of the input or always the same."""
    if callable(answer):
        answer = answer(json.loads(route.request.post_data))
    route.fulfill(body=json.dumps(answer), content_type="application/json")


def texts(page: Any, selector: str) -> list[str]:
    return page.locator(selector).evaluate_all("all => all.map(one => one.textContent)")
