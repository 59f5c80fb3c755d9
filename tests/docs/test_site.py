"""The documentation as a site: it is built without warnings, and its pages in Chromium."""

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
            if not (target / "index.html" if target.is_dir() else target).is_file():
                dead.append(f"{page.relative_to(site)}: {link}")
    assert dead == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", PAGES)
def test_page(
    name: str, size: dict[str, int], site: Path, browser: Any, serve: Any
) -> None:
    address = f"http://127.0.0.1:{serve(site).server_port}/"
    problems: list[str] = []
    context = browser.new_context(viewport=size)
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda line: problems.append(line.text) if line.type == "error" else None,
    )
    context.on(
        "request",
        lambda sent: (
            None
            if sent.url.startswith((address, "data:"))
            else problems.append(sent.url)
        ),
    )
    page.goto(address + name, wait_until="networkidle")
    assert page.locator("article h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    context.close()
    assert problems == []
