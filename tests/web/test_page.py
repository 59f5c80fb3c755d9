"""The page of `elmo-tasks serve`, in Chromium."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.archives.make import INPUTS, STORED
from tests.tiny import ROOT
from tests.web.serving import Server, serving

pytestmark = pytest.mark.slow

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install playwright"
)
Show = Callable[..., Any]
SENTENCES = {
    "sentences": [
        ["Mira", "'s", "old", "ferry", "sank", "."],
        ["It", "was", "hers", "."],
    ]
}
CROSSING = [[[0, 3], [6, 7]], [[2, 5], [8, 9]], [[0, 1], [2, 3]]]
BACKGROUND = {"light": "rgb(247, 246, 242)", "dark": "rgb(19, 21, 25)"}
HOSTILE = [
    "e" + "\u0301" * 1000,
    "<script>bad=1</script>",
    "<img/src=x/onerror='bad=1'>",
    "\u202e\u05d0\u2066",
]
HOSTILE += ["\U0001f469\u200d\U0001f467", "]]>&amp;", "x" * 3000]
MESSAGE = "#message:not(:empty)"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    archives = [STORED / "1" / f"{task}.tar.gz" for task in INPUTS]
    with serving(*archives, f"other={STORED}/1/ner.tar.gz") as running:
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
        link: dict[str, str], answers: Any = (), drawn: str = "article", **options: Any
    ) -> Any:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("request", on_request)
        page.on("pageerror", on_error)
        page.on("console", on_line)
        for name, answer in dict(answers).items():
            page.route(f"**/api/predict/{name}", partial(_answer, json.dumps(answer)))
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


def _answer(body: str, route: Any) -> None:
    route.fulfill(body=body, content_type="application/json")


def assert_drawn(task: str, page: Any, found: Any) -> None:
    """The page shows what the model has found."""
    if task == "ner":
        assert page.locator(".text mark").count() == len(found["entities"]) > 0
    elif task == "srl":
        verbs = [frame["verb"] for frame in found["frames"]]
        assert texts(page, ".drawing h3") == verbs != []
    elif task == "coref":
        assert page.locator(".text mark").count() == sum(map(len, found["clusters"]))
        assert found["clusters"]
    elif task == "squad":
        answers = [answer["text"] for answer in found["n_best"]]
        assert texts(page, ".answers bdi") == answers
    elif task == "snli":
        words = found["hypothesis"] + found["premise"]
        assert texts(page, ".grid thead th") == words
    else:
        assert task == "sst"
        assert texts(page, ".drawing .bars th") == list(found["probabilities"])


def texts(page: Any, selector: str) -> list[str]:
    return page.locator(selector).evaluate_all("all => all.map(one => one.textContent)")


@pytest.mark.parametrize("task", INPUTS)
def test_every_task_is_drawn(task: str, show: Show, server: Server) -> None:
    given = INPUTS[task]
    page = show({"view": task, "input": json.dumps(given)})
    body = server.send(f"/api/predict/{task}", given).body
    assert_drawn(task, page, json.loads(body))
    for place, name in enumerate(("JSON", "curl")):
        page.get_by_text(name, exact=True).last.click()
        playwright.expect(page.locator("pre").nth(place)).not_to_be_empty()
    shown, command = texts(page, "pre")
    words = shlex.split(command)
    assert shown.encode() == body
    assert json.loads(words[5]) == given
    if shutil.which("curl"):
        done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
        assert done.stdout == body


def test_keyboard_and_history(show: Show) -> None:
    page = show({"view": "ner"})
    before = texts(page, ".text")[0]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the input
    while not page.evaluate(
        "document.activeElement.matches('#examples button:nth-child(2)')"
    ):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    playwright.expect(page.locator(".text")).not_to_have_text(before)
    page.locator("textarea").fill("Mira sold it")
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator(".text")).to_contain_text("Mira")
    page.go_back()
    playwright.expect(page.locator(".text")).not_to_contain_text("Mira")


def entities(*found: tuple[int, int, str]) -> dict[str, Any]:
    tokens = ["\U0001f600", "Mira", "Oakes", "left"]
    spans = [
        {"text": " ".join(tokens[i:j]), "type": label, "token_start": i, "token_end": j}
        for i, j, label in found
    ]
    return {"tokens": tokens, "tags": ["O"] * 4, "entities": spans}


def test_side_by_side(show: Show) -> None:
    answers = {
        "ner": entities((1, 3, "PER")),
        "other": entities((1, 3, "PER"), (3, 4, "LOC")),
    }
    given = json.dumps({"tokens": answers["ner"]["tokens"]})
    page = show(
        {"view": "ner", "model": "ner", "with": "other", "input": given}, answers
    )
    assert texts(page, ".differences li") == ["nothing", "“\u2068left\u2069” LOC"]
    assert (
        texts(page, ".differs") == ["leftLOC"]
        and "The answers differ" in page.locator("#status").inner_text()
    )
    assert texts(page, "article:first-child mark") == [
        "Mira OakesPER"
    ]  # the emoji is one code point
    page.locator("#other").select_option("ner")
    page.get_by_text("The answers are the same").first.wait_for()


def test_spans_nest_and_cross(show: Show) -> None:
    clusters: list[list[dict[str, Any]]] = []
    for cluster in CROSSING:
        clusters.append([])
        for start, end in cluster:
            mention = {"text": "x", "token_start": start, "token_end": end}
            clusters[-1].append(mention)
    answer = SENTENCES | {"clusters": clusters}
    link = {"view": "coref", "input": json.dumps(SENTENCES)}
    page = show(link, {"coref": answer})
    marks = ["13Mira 's 23old", "3Mira", "23old", "3old", " ferry sank", "1It", "2hers"]
    assert texts(page, ".text mark") == marks
    assert texts(page, ".text") == ["13Mira 's 23old ferry sank . 1It was 2hers ."]
    page.locator(".legend li").nth(1).focus()
    assert texts(page, "mark.hot") == ["23old", " ferry sank", "2hers"]


@pytest.mark.parametrize("view", INPUTS)
def test_hostile_text_is_text(view: str, show: Show) -> None:
    text = " ".join(HOSTILE)
    given: dict[str, Any] = {"tokens": HOSTILE}
    if view == "snli":
        given = {"premise": HOSTILE, "hypothesis": HOSTILE}
    elif view == "squad":
        given = {"passage": text, "question": text}
    elif view == "srl":
        given["predicates"] = [0]
    elif view == "coref":
        given = {"sentences": [HOSTILE]}
    narrow: Any = {"viewport": {"width": 360, "height": 740}}
    page = show({"view": view, "input": json.dumps(given)}, **narrow)
    page.wait_for_load_state("networkidle")
    article = page.locator("article").text_content()
    if view != "sst":  # which draws no words
        for word in HOSTILE:
            assert word in article
    assert page.evaluate("[typeof bad, document.documentElement.scrollWidth]") == [
        "undefined",
        360,
    ]
    page = show({"view": view, "input": text}, drawn=MESSAGE)
    assert (
        "expected JSON" in page.locator(MESSAGE).inner_text()
        and page.locator("textarea").input_value() == text
    )


@pytest.mark.parametrize("view", INPUTS)
@pytest.mark.parametrize("scheme", BACKGROUND)
def test_narrow_stable_and_readable(view: str, scheme: str, show: Show) -> None:
    page = show(
        {"view": view}, color_scheme=scheme, viewport={"width": 360, "height": 740}
    )
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert (
        page.evaluate("getComputedStyle(document.body).backgroundColor")
        == BACKGROUND[scheme]
    )
    checks = (ROOT / "tests" / "web" / "checks.js").read_text("utf-8")
    assert page.evaluate(checks) == {"shift": 0, "unnamed": [], "faint": []}
