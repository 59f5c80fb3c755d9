"""The page "ELMo in the browser" of the site in Chromium, with the bundled biLM."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.resources import fixtures_root
from tests.docs.conftest import SITE
from tests.docs.test_site import problems_of
from tests.tiny import ROOT

pytestmark = pytest.mark.slow

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install playwright"
)
PAGE = f"{SITE}latest/browser/"
FAMILY = "\U0001f469\u200d\U0001f467"
UNUSUAL = [
    ["antidisestablishmentarianismically"],
    ["é" * 200, "x" * 48, "y" * 47],
    ["naïve", "Zürich", "日本語", FAMILY],
]
UNUSUAL += [
    ["qzxv"],
    ["constructor", "<S>", "__proto__", "", "</S>"],
    ["a b"],
    ["a", "b"],
]
HOSTILE = (
    "<img src=x onerror=bad()> <b>bold</b> " + "e" + "\u0301" * 300 + " " + "x" * 300
)
EMBED = """sentences => new Promise((resolve, reject) => {
  const worker = new Worker("elmo.js");
  worker.onerror = reject;
  worker.onmessage = ({ data }) => {
    if (data.error) reject(new Error(data.error));
    if (data.id === 7) resolve(data.layers.map((one) => [...one]));
  };
  worker.postMessage({ id: 7, sentences });
})"""
WAIT_UNTIL_KEPT = """async () => {
  for (let tries = 0; tries < 100; tries++) {
    const worker = (await navigator.serviceWorker.getRegistration())?.active;
    const kept = await (await caches.open("elmo-model")).keys();
    if (worker?.state === "activated" && kept.length) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("expected a service worker and a kept model");
}"""
NOT_KEPT = """async () => {
  const files = [...document.querySelectorAll("link[rel=stylesheet], script[src]")];
  const missing = [];
  for (const { href, src } of files) {
    if (!await caches.match(href ?? src)) missing.push(href ?? src);
  }
  return missing;
}"""
Open = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any, serve: Any, site: Path) -> Iterator[Open]:
    """
    Opens the page in a new window. In the end: requests went to its server only, and no
    script failed.
    """
    contexts: list[Any] = []
    problems: list[list[str]] = []

    def open_page(**options: Any) -> Any:
        address = f"http://127.0.0.1:{serve(site).server_port}"
        context = browser.new_context(**options)
        page = context.new_page()
        contexts.append(context)
        problems.append(problems_of(page, context, address))
        page.goto(address + PAGE)
        page.wait_for_selector("#views td", timeout=60_000)
        return page

    yield open_page
    for context in contexts:
        context.close()
    for found in problems:
        assert found == []


def texts(page: Any, selector: str) -> list[str]:
    return page.locator(selector).evaluate_all("all => all.map(one => one.textContent)")


def test_layers_equal_pytorch(open_page: Open) -> None:
    rng = np.random.default_rng(1)
    vocabulary = (
        (fixtures_root() / "bilm/vocabulary.txt").read_text("utf-8").split()[3:]
    )
    sentences = list(UNUSUAL)
    for length in (1, 2, 11, 40):
        sentences.append([str(word) for word in rng.choice(vocabulary, length)])
    found = open_page().evaluate(EMBED, sentences)
    for words, flat, expected in zip(
        sentences, found, Elmo.from_files().embed(sentences), strict=True
    ):
        np.testing.assert_allclose(
            np.reshape(flat, expected.shape),
            expected,
            rtol=0,
            atol=1e-3,
            err_msg=str(words),
        )


def test_examples_have_the_cosines_of_the_text(open_page: Open) -> None:
    page = open_page()
    for example in ("play", "bank"):
        page.get_by_role("button", name=example, exact=True).first.click()
        playwright.expect(page.locator("#sentences [aria-pressed=true]")).to_have_text(
            example
        )
        numbers = []
        for caption in texts(page, "figcaption"):
            numbers.append(caption.replace(",", "").split()[4::3])
        assert numbers[0] == ["1.00", "1.00"]
        stated = []
        for layer in (1, 2):
            one, two = numbers[layer]
            stated.append(f"{one} and {two} in layer {layer}")
        assert texts(page, f"#{example}-numbers") == [", ".join(stated)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_a_phone_and_is_accessible(scheme: str, open_page: Open) -> None:
    page = open_page(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page.locator("#text").fill(HOSTILE)
    playwright.expect(page.locator("#sentences button").first).to_have_text("<img")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    found = page.evaluate((ROOT / "tests/web/checks.js").read_text("utf-8"))
    assert found["unnamed"] == found["faint"] == []


def test_text_is_split_as_in_the_training_text(open_page: Open) -> None:
    page = open_page()
    page.locator("#text").fill("\"I don't,\" said Ann's well-known\u00a0\U0001f600.")
    words = [
        '"',
        "I",
        "do",
        "n't",
        ",",
        '"',
        "said",
        "Ann",
        "'s",
        "well-known",
        "\U0001f600",
        ".",
    ]
    playwright.expect(page.locator("#sentences button")).to_have_text(words)


def test_sliders_mix_the_layers(open_page: Open) -> None:
    page = open_page()
    for layer, weight in enumerate((-5, -5, 5)):
        page.locator(f"#w{layer}").fill(str(weight))
    assert texts(page, "#sliders output") == ["0.00", "0.00", "1.00", "1.00"]
    second = texts(page, "#views > :nth-child(3) td")
    assert texts(page, "#views > :nth-child(4) td") == second
    length = float(page.locator("#length").inner_text())
    page.locator("#gamma").fill("2")
    assert float(page.locator("#length").inner_text()) == pytest.approx(
        2 * length, abs=0.02
    )
    assert texts(page, "#views > :nth-child(4) td") == second


def test_second_visit_works_offline(browser: Any, serve: Any, site: Path) -> None:
    server, context = serve(site), browser.new_context()
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{server.server_port}{PAGE}")
    page.wait_for_selector("#views td", timeout=60_000)
    page.evaluate(WAIT_UNTIL_KEPT)
    assert page.evaluate(NOT_KEPT) == []
    server.shutdown()
    server.server_close()
    page.reload()
    page.wait_for_selector("#views td", timeout=60_000)
    context.close()
