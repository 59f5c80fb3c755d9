"""
The documentation as a site: it is built without warnings, and its pages in Chromium.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.tiny import ROOT

pytestmark = pytest.mark.slow

pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install '.[docs]'")
PAGES = ["", "VECTORS/", "api/vectors/", "RESULTS/", "PAPER/", "tutorials/1-vectors/"]
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        str(folder),
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_links(site: Path) -> None:
    dead = []
    for page in site.rglob("*.html"):
        for link in re.findall(
            r'(?:href|src)="(?![a-z]+:|[#/])([^"#?]+)', page.read_text("utf-8")
        ):
            target = page.parent / unquote(link)
            if target.is_dir():
                target = target / "index.html"
            if not target.is_file():
                dead.append(f"{page.relative_to(site)}: {link}")
    assert dead == []


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


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", PAGES)
def test_page(
    name: str, size: dict[str, int], site: Path, browser: Any, serve: Any
) -> None:
    address = f"http://127.0.0.1:{serve(site).server_port}/"
    context = browser.new_context(viewport=size)
    page = context.new_page()
    problems = problems_of(page, context, address)
    page.goto(address + name, wait_until="networkidle")
    assert page.locator("article h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    context.close()
    assert problems == []
