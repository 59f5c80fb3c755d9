"""The page of `elmo-tasks serve`, in Chromium."""

import json
import shlex
import shutil
import subprocess
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from elmo_tasks.tasks import TASKS
from tests.archives.make import INPUTS
from tests.tiny import ROOT
from tests.web.conftest import Show, texts
from tests.web.serving import Server

pytestmark = pytest.mark.slow

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install playwright"
)
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
WIDTHS = (400, 1000, 1400)
FOCUSABLE = "a[href], button, select, textarea, summary, [tabindex='0']"
FOCUSABLE += ", input:checked"
FOCUS = """() => {
  const one = document.activeElement, ring = one.matches("input") ? one.parentElement : one;
  const { outlineStyle, outlineWidth } = getComputedStyle(ring), box = ring.getBoundingClientRect();
  const place = [...document.querySelectorAll("*")].indexOf(one);
  return [place, outlineStyle !== "none" && parseFloat(outlineWidth) >= 2, box.top < innerHeight && box.bottom > 0];
}"""
"""Which element has the focus, whether that is seen, and whether it is on screen."""


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
    text = page.locator("article:last-child .text")
    before = text.text_content()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the input
    while not page.evaluate("document.activeElement.matches('tr:nth-child(2) button')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    playwright.expect(text).not_to_have_text(before)
    page.locator("textarea").fill("Mira sold it")
    page.keyboard.press("Control+Enter")
    playwright.expect(text).to_contain_text("Mira")
    page.go_back()
    playwright.expect(text).not_to_contain_text("Mira")


@pytest.mark.parametrize("view", INPUTS)
def test_everything_is_reached_by_keyboard_with_a_visible_focus(
    view: str, show: Show
) -> None:
    page = show({"view": view})
    page.wait_for_load_state("networkidle")
    wanted = page.evaluate(
        "(selector) => [...document.querySelectorAll('*')].flatMap((one, place) =>"
        " one.matches(selector) && one.checkVisibility() && !one.disabled ? [place] : [])",
        FOCUSABLE,
    )
    reached = []
    for _ in wanted:
        page.keyboard.press("Tab")
        place, is_seen, is_on_screen = page.evaluate(FOCUS)
        assert is_seen and is_on_screen, page.evaluate(
            "document.activeElement.outerHTML"
        )
        reached.append(place)
    assert reached == wanted


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
    assert page.locator(".gold").count() == 0  # it is no example
    assert texts(page, ".differences li") == ["nothing", "“\u2068left\u2069” LOC"]
    assert (
        texts(page, ".differs") == ["leftLOC"]
        and "The answers differ" in page.locator("#status").inner_text()
    )
    assert texts(page, "article[aria-label=ner] mark") == [
        "Mira OakesPER"
    ]  # the emoji is one code point
    assert texts(page, "#other option") == ["none", "other"]  # never with itself
    page.locator("#model").select_option("other")
    page.locator(".differences").wait_for(state="detached")
    assert texts(page, "#other option") == ["none", "ner"]


def test_spans_nest_and_cross(show: Show) -> None:
    clusters: list[list[dict[str, Any]]] = []
    for cluster in CROSSING:
        clusters.append([])
        for start, end in cluster:
            clusters[-1].append({"text": "x", "token_start": start, "token_end": end})
    answer = SENTENCES | {"clusters": clusters}
    page = show({"view": "coref", "input": json.dumps(SENTENCES)}, {"coref": answer})
    marks = ["13Mira 's 23old", "3Mira", "23old", "3old", " ferry sank", "1It", "2hers"]
    assert texts(page, ".text mark") == marks
    assert texts(page, ".text") == ["13Mira 's 23old ferry sank . 1It was 2hers ."]
    page.locator(".legend li").nth(1).focus()
    assert texts(page, "mark.hot") == ["23old", " ferry sank", "2hers"]


def gold_of(task: str, given: Any) -> Any:
    """The gold answer of an example."""
    for example in TASKS[task].examples:
        if example.input == given:
            return example.gold
    raise AssertionError(f"{given} is no example")


def test_the_first_screen_shows_what_elmo_changes(show: Show) -> None:
    """
    How many facts of each example both models find, and the first on which they differ,
    between its gold answer and theirs.
    """
    examples = TASKS["ner"].examples
    odd = examples[2]

    def right(given: Any) -> Any:
        return gold_of("ner", given) | {"tags": []}

    def plain(given: Any) -> Any:
        answer = right(given)
        if given == odd.input:
            *kept, last = answer["entities"]
            answer["entities"] = kept + [last | {"type": "ORG"}]
        return answer

    link = {"view": "ner", "model": "ner", "with": "other"}
    page = show(link, {"ner": plain, "other": right})
    page.wait_for_load_state("networkidle")
    assert odd.gold is not None
    count = len(odd.gold["entities"])
    assert texts(page, ".examples tbody tr:nth-child(3) td") == [
        f"{count - 1} of {count}, 1 wrong ",
        "right ",
    ]
    for row in (1, 2, 4, 5, 6):
        cells = texts(page, f".examples tbody tr:nth-child({row}) td")
        assert cells == ["right ", "right "]
    every = sum([len(one.gold["entities"]) for one in examples if one.gold])
    assert texts(page, ".examples tfoot td") == [
        f"{every - 1} of {every}, 1 wrong ",
        f"{every} of {every} ",
    ]
    assert page.locator("textarea").input_value() == " ".join(odd.input["tokens"])
    assert texts(page, ".examples [aria-pressed=true]") == texts(
        page, ".examples tr:nth-child(3) button"
    )
    assert page.locator(".gold mark").count() == count
    assert texts(page, "article .badge") == [
        f"{count - 1} of {count}, 1 wrong",
        "right",
    ]
    assert texts(page, ".differences .badge") == ["wrong", "right"]
    top = page.locator(".gold").bounding_box()["y"]
    assert top + page.locator(".gold").bounding_box()["height"] < 720


def _scored(route: Any) -> None:
    """The list of models, with scores of two of them."""
    about = route.fetch().json()
    for model in about["models"]:
        if model["name"] == "ner":
            model["scores"] = {"test": "50.0", "validation": "60.0"}
        if model["name"] == "other":
            model["scores"] = {"validation": "65.4"}
    route.fulfill(json=about)


def test_the_scores_of_the_runs_are_below_the_examples(show: Show) -> None:
    page = show({"view": "ner", "model": "ner", "with": "other"}, models=_scored)
    assert texts(page, "#scores p") == [
        "F1 on all test data: ner 50.0",
        "F1 on all validation data: ner 60.0, other 65.4",
    ]
    page = show({"view": "sst"}, models=_scored)
    assert texts(page, "#scores p") == []


@pytest.mark.parametrize("task", INPUTS)
def test_gold_answers_are_drawn_and_are_right(task: str, show: Show) -> None:
    """For each example; a model that gives the gold answer is right."""
    page = show({"view": task}, {task: partial(as_predicted, task)})
    page.wait_for_load_state("networkidle")
    examples = TASKS[task].examples
    assert texts(page, ".examples tbody td") == ["right "] * len(examples)
    for row, example in enumerate(examples):
        page.locator(".examples button").nth(row).click()
        gold = page.locator(".gold")
        for text in said(task, example.gold):
            playwright.expect(gold).to_contain_text(text)
        playwright.expect(page.locator("article .badge")).to_have_text("right")


def as_predicted(task: str, given: Any) -> Any:
    """The gold answer in the form of a prediction."""
    gold = gold_of(task, given)
    if task in ("snli", "sst"):
        answer = gold | {"probabilities": {gold["label"]: 1.0}}
        if task == "snli":
            answer |= {"premise": [], "hypothesis": []}
            answer |= {"premise_attention": [], "hypothesis_attention": []}
        return answer
    if task == "squad":
        best = gold["answers"][0] | {"probability": 1.0}
        best["text"] = f"The {best['text'].upper()}!"  # as the official scorer reads it
        return {"question": gold["question"], "n_best": [best]} | best
    return gold


def said(task: str, gold: Any) -> list[str]:
    """What has to be read in a gold answer."""
    if task in ("snli", "sst"):
        return [gold["label"]]
    if task == "squad":
        return [answer["text"] for answer in gold["answers"]]
    if task == "coref":
        return [mention["text"] for cluster in gold["clusters"] for mention in cluster]
    if task == "srl":
        return [f"{frame['verb']}" for frame in gold["frames"]]
    return [f"{one['text']}{one['type']}" for one in gold["entities"]]


@pytest.mark.parametrize("size", [(390, 844), (1000, 900), (1400, 900)])
def test_an_error_is_seen_and_leaves_the_answers(
    size: tuple[int, int], show: Show
) -> None:
    """It stands between the input and the button, on the first screen of a phone, too."""
    page = show({"view": "ner"}, viewport={"width": size[0], "height": size[1]})
    page.wait_for_load_state("networkidle")
    before = texts(page, "article")
    page.locator("textarea").fill("")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(MESSAGE)
    ends = page.locator("textarea, #message, #run").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().bottom)"
    )
    assert ends == sorted(ends) and ends[-1] < size[1]
    assert texts(page, "article") == before


def test_a_link_reproduces_the_view(show: Show) -> None:
    """Models, input and its form, answers and gold answer."""
    page = show({"view": "ner"})
    page.locator("#other").select_option("other")
    page.locator(".examples button").nth(4).click()
    playwright.expect(page.locator("article")).to_have_count(3)
    again = show(dict(parse_qsl(urlsplit(page.url).fragment)))
    for one in (page, again):
        one.wait_for_load_state("networkidle")
    assert view_of(again) == view_of(page)
    page.locator("textarea").fill("Mira sold it .")
    page.locator("#run").click()
    page.get_by_text("Mira").first.wait_for()
    again = show(dict(parse_qsl(urlsplit(page.url).fragment)))
    for one in (page, again):
        one.wait_for_load_state("networkidle")
    assert view_of(again) == view_of(page)
    assert page.locator(".gold").count() == 0


def sent(page: Any) -> Any:
    """The input that is sent when the user presses Ctrl+Enter."""
    with page.expect_request("**/api/predict/*") as request:
        page.keyboard.press("Control+Enter")
    return json.loads(request.value.post_data)


def test_typed_words_are_text_unless_punctuation_stands_alone(show: Show) -> None:
    page = show({"view": "ner"})
    page.wait_for_load_state("networkidle")
    text = page.locator("textarea")
    text.fill("Mira left Mercury .")
    assert sent(page) == {"tokens": ["Mira", "left", "Mercury", "."]}
    text.fill("Mira left Mercury.")
    assert sent(page) == {"sentence": "Mira left Mercury."}
    assert page.locator("input:checked").input_value() == "text"
    page.keyboard.type("!")  # the field still has the focus
    assert sent(page) == {"sentence": "Mira left Mercury.!"}
    page.locator(".examples button").nth(1).click()
    assert page.locator("input:checked").input_value() == "words"
    page.get_by_label("words", exact=True).check()
    page.get_by_label("text", exact=True).check()
    page.get_by_label("words", exact=True).check()
    text.fill("Mira left Mercury.")
    assert sent(page) == {"tokens": ["Mira", "left", "Mercury."]}  # as was chosen


def test_words_with_numbers_of_predicates_stay_words(show: Show) -> None:
    page = show({"view": "srl"})
    page.wait_for_load_state("networkidle")
    words, predicates = page.locator("textarea").all()
    words.fill("Mira sold it")
    predicates.fill("1")
    assert sent(page) == {"tokens": ["Mira", "sold", "it"], "predicates": [1]}
    page.locator(".examples button").nth(1).click()
    words.fill("Mira sold it.")
    assert sent(page) == {"sentence": "Mira sold it."}


def view_of(page: Any) -> Any:
    values = page.locator("select, textarea, input:checked").evaluate_all(
        "all => all.map(one => one.value)"
    )
    return values, texts(page, "article"), texts(page, ".examples")


@pytest.mark.parametrize("key", ["view", "model", "with", "input"])
def test_hostile_links_are_text(key: str, show: Show) -> None:
    for value in [*HOSTILE, "__proto__", "constructor", "null", "[[1]]", "{}", "\0"]:
        link = {"view": "ner", "model": "ner", key: value}
        page = show(link, drawn=MESSAGE if key != "view" else "article")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("typeof bad") == "undefined"
        assert page.locator("#ready img, #ready script").count() == 0
        if key in ("model", "with"):
            assert f"This server has no {value}" in page.locator(MESSAGE).text_content()
        if key == "input":
            expected = value
            if value in ("[[1]]", "{}", "null"):
                expected = ""  # which a form of texts can hold
            assert expected in page.locator("textarea").input_value()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("view", INPUTS)
def test_nothing_is_cut_and_nothing_touches(view: str, width: int, show: Show) -> None:
    checks = (ROOT / "tests" / "web" / "layout.js").read_text("utf-8")
    link = {"view": view}
    if view == "ner":
        link |= {"model": "ner", "with": "other"}
    page = show(link, viewport={"width": width, "height": 900})
    page.wait_for_load_state("networkidle")
    assert page.evaluate(checks) == []
    if view == "ner":  # a mark that differs has an outline
        page.locator("#other").select_option("")
        page.wait_for_load_state("networkidle")
        assert page.evaluate(checks) == []


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
