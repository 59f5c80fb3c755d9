"""
The pages for newcomers: docs/two-minutes.md, its picture, docs/when-to-use.md, the
index of tasks and the glossary. What their code prints is what they show. Links of all
pages lead to a heading.
"""

import re
from pathlib import Path

import pytest

from tests.docs.test_examples import FENCE
from tests.tiny import ROOT

DOCS = ROOT / "docs"
IMAGES = DOCS / "images"

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("[a-z]*/README.md"), *DOCS.rglob("*.md")]
PAGES += [ROOT / "fixtures/generator/README.md", *DOCS.glob("tutorials/*-*.py")]

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["elmo", "figure-1", "figure-2"])
def test_a_picture_can_be_read_at_400_pixels(name: str, browser: object) -> None:
    """
    No text has letters below 12 pixels, leaves the picture, or lies on another one.
    """
    page = browser.new_page(viewport={"width": 400, "height": 500})  # type: ignore[attr-defined]
    page.set_content((IMAGES / f"{name}.svg").read_text("utf-8"))
    texts = page.evaluate(
        """() => {
          const svg = document.querySelector("svg");
          svg.setAttribute("width", 400);
          svg.removeAttribute("height");
          const origin = svg.getBoundingClientRect();
          return [...svg.querySelectorAll("text")].map(text => {
            const box = text.getBoundingClientRect();
            const size = parseFloat(getComputedStyle(text).fontSize);
            return {text: text.textContent, size: size * origin.width / 480,
                    left: box.left - origin.left, right: box.right - origin.left,
                    top: box.top - origin.top, bottom: box.bottom - origin.top};
          });
        }"""
    )
    page.close()
    assert len(texts) > 10
    for number, one in enumerate(texts):
        assert one["size"] >= 12, one
        assert one["left"] >= 0 and one["right"] <= 400, one
        for other in texts[:number]:
            is_beside = one["left"] >= other["right"] or one["right"] <= other["left"]
            is_apart = one["top"] >= other["bottom"] or one["bottom"] <= other["top"]
            assert is_beside or is_apart, (one, other)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in HEADING.findall(FENCE.sub("", page.read_text("utf-8"))):
        found.add(re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-"))
    return found


def path_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", sorted({*PAGES}), ids=path_of)
def test_links_lead_to_a_file_and_a_heading(page: Path) -> None:
    """Also those out of docs/, which are not tested when the site is built."""
    for path, anchor in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        target = page if path == "" else (page.parent / path)
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target), (path, anchor)


def test_the_tour_names_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert len(text.split()) <= 1800
    for name in re.findall(r"`([\w./]+\.(?:py|md))`", text):
        places = [ROOT / name, *(ROOT / "elmo_tasks").rglob(name)]
        assert any(place.exists() for place in places), name


def test_the_index_has_a_line_for_each_task() -> None:
    text = (DOCS / "how-to.md").read_text("utf-8")
    tasks = re.findall(r"^- (.*)$", text, re.MULTILINE)
    assert 25 <= len(tasks) <= 50
    assert len(set(tasks)) == len(tasks)
    for task in tasks:
        assert LINK.search(task), task


def test_the_glossary_is_in_order() -> None:
    text = (DOCS / "glossary.md").read_text("utf-8")
    terms = re.findall(r"^\*\*(.+?)\*\*: ", text, re.MULTILINE)
    assert len(terms) > 20
    plain = [re.sub(r"[^a-z0-9]", "", term.lower()) for term in terms]
    assert plain == sorted(plain)
