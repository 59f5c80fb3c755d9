"""
The documentation as a site: it is built without warnings, links to the repository lead
to files, and its pages in Chromium.
"""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import elmo_tasks
from tests.docs.conftest import SITE, TUTORIALS, URLS, sphinx
from tests.tiny import ROOT

pytestmark = pytest.mark.slow

pytest.importorskip(
    "sphinx", reason="sphinx is not installed: pip install --group docs"
)

WIDTHS = (400, 1000, 1400)
LAYOUT = (ROOT / "tests/docs/layout.js").read_text("utf-8")


@pytest.fixture
def latest(site: Path) -> Path:
    """The folder of the pages."""
    return site / SITE.strip("/") / "latest"


def test_links_to_the_repository_lead_to_files(latest: Path) -> None:
    """Also those of the notebooks, which lead to the published pages."""
    file = re.compile(rf"{re.escape(URLS['Source'])}/(?:blob|tree)/main/([^\"#)?]+)")
    page = re.compile(rf"\]\({re.escape(URLS['Documentation'])}latest/([^)#]*)")
    missing = []
    found = 0
    for one in [*latest.rglob("*.html"), *latest.rglob("*.ipynb")]:
        text = one.read_text("utf-8")
        for path in file.findall(text):
            found += 1
            if not (ROOT / unescape(unquote(path))).exists():
                missing.append(f"{one.relative_to(latest)}: {path}")
        for path in page.findall(text):
            found += 1
            if not (latest / path / "index.html").exists():
                missing.append(f"{one.relative_to(latest)}: {path}")
    assert found > 100
    assert missing == []


def test_mistakes_of_a_page_fail_the_build(tmp_path: Path) -> None:
    """A link or an anchor to nothing, a page that no navigation has, a wrong name."""
    pages = tmp_path / "docs"
    pages.mkdir()
    (pages / "index.md").write_text(
        "# Start\n\n[one](missing.md) [two](#nowhere) [three](other.md#nowhere)\n\n"
        "```{eval-rst}\n.. py:function:: f(x: elmo_tasks.errors.NoSuch)\n```\n"
    )
    (pages / "other.md").write_text("# Other\n")
    for folder in ("static", "templates"):
        (pages / folder).symlink_to(ROOT / "docs" / folder)
    done = sphinx(pages, tmp_path / "site")
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line]
    for expected in (
        "target not found: 'missing.md'",
        "target not found: 'nowhere'",
        "local id not found in doc 'other': 'nowhere'",
        "document isn't included in any toctree",
        "target not found: elmo_tasks.errors.NoSuch",
    ):
        assert any(expected in line for line in warnings), done.stderr
    assert len(warnings) == 5
    assert done.returncode == 1


def problems_of(page: Any, context: Any, address: str) -> list[str]:
    """
    A list that gets the errors of a page, and its requests to other servers than that
    of the address.
    """
    problems: list[str] = []

    def on_error(error: Any) -> None:
        problems.append(str(error))

    def on_line(line: Any) -> None:
        if line.type == "error":
            problems.append(line.text)

    def on_request(request: Any) -> None:
        if not request.url.startswith((address, "data:")):
            problems.append(request.url)

    page.on("pageerror", on_error)
    page.on("console", on_line)
    context.on("request", on_request)
    return problems


@pytest.fixture
def server(site: Path, serve: Any) -> str:
    """The address of the published site."""
    return f"http://127.0.0.1:{serve(site).server_port}{SITE}"


@pytest.fixture
def window(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    yield context
    context.close()


def test_every_page_is_readable_at_three_widths(
    latest: Path, server: str, window: Any
) -> None:
    """
    Nothing is wider than its column without scrolling in a box of its own, no text is
    cut or overlaps, no script fails, and nothing comes from another server.
    """
    page = window.new_page()
    failures = problems_of(page, window, server)
    problems = []
    count = 0
    for file in sorted(latest.rglob("index.html")):
        name = file.parent.relative_to(latest).as_posix()
        if name == "genindex":
            continue
        count += 1
        page.goto(f"{server}latest/{name}/", wait_until="load")
        if page.locator("main h1").count() != 1:
            problems.append(f"{name}: expected one heading of the page")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for problem in page.evaluate(LAYOUT):
                problems.append(f"{name} at {width}: {problem}")
    assert count > 40
    assert problems == []
    assert failures == []


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("model.elmo.l2", "reference-configs/#key-model-elmo-l2"),
        ("batch_size", "api/"),
        ("install", "INSTALL/"),
        ("l2", "reference-configs/#key-model-elmo-l2"),
        ("cache_dir", "LAYERS/"),
    ],
)
def test_search(query: str, page: str, server: str, window: Any) -> None:
    """
    It finds a dotted key first, the API before other keys, and pages; not the changelog.
    """
    shown = window.new_page()
    failures = problems_of(shown, window, server)
    shown.goto(f"{server}latest/search/?q={query}")
    links = shown.locator("#search-results li a")
    links.first.wait_for()
    found = links.evaluate_all("all => all.map(a => a.href)")
    assert not any("/latest/changelog/" in link for link in found)
    if query not in ("l2", "cache_dir"):
        found = found[:1]
    assert any(f"/latest/{page}" in link for link in found)
    assert failures == []


def test_versions(site: Path, server: str, window: Any) -> None:
    """The menu has the published versions, and the address leads to the newest one."""
    published = site / SITE.strip("/")
    assert [
        one["version"] for one in json.loads((published / "versions.json").read_text())
    ] == ["latest"]
    page = window.new_page()
    failures = problems_of(page, window, server)
    page.goto(server)
    page.wait_for_url("**/latest/")
    menu = page.locator(".version-switcher__container:visible")
    menu.locator("button", has_text="latest").click()
    assert menu.locator("a").all_inner_texts() == ["latest"]
    assert failures == []


def test_front_page_and_footer(latest: Path) -> None:
    page = (latest / "index.html").read_text("utf-8")
    address = f"{URLS['Documentation']}latest/"
    assert f'<link rel="canonical" href="{address}"' in page
    image = re.search(rf'og:image" content="{address}(.*?)"', page)
    assert image is not None and (latest / image[1]).is_file()
    for link in ("licence/", "changelog/", URLS["Source"]):
        assert f'href="{link}"' in page
    for name, text in (
        ("licence", "peters-etal-2018-deep"),
        ("changelog", elmo_tasks.__version__),
    ):
        assert text in (latest / name / "index.html").read_text("utf-8")


def test_notebooks_have_outputs(latest: Path) -> None:
    for source in TUTORIALS["SOURCES"]:
        page = (latest / "tutorials" / source.stem / "index.html").read_text("utf-8")
        assert "cell_output" in page
        assert (latest / "tutorials" / f"{source.stem}.ipynb").is_file()
