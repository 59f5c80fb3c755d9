"""
Draws `page.png`: the page of `elmo-tasks serve` as it opens with the two models of
`make demo`, in a window of 1,400 by 900 pixels.

Run `make demo && python docs/images/page.py` after the page changes. It needs
playwright and Chromium (`apt-get install chromium`).
"""

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SIZE = {"width": 1400, "height": 900}
COLOURS = 64
"""Of the picture; with more it is larger and looks the same."""


def archives(runs: Path) -> list[str]:
    """The archives of a table, by the names of their rows: `ner-elmo=...`."""
    found = []
    for archive in sorted(runs.glob("*/model/model.tar.gz")):
        name = "-".join(archive.parents[1].name.split("-")[:2])
        found.append(f"{name}={archive}")
    if not found:
        sys.exit(f"error: expected runs in {runs}, got none: make demo trains them")
    return found


def picture(url: str) -> bytes:
    """A PNG of what a page shows when all its answers are there."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = chromium.new_page(viewport=SIZE)
        page.goto(url)
        page.wait_for_selector("article")
        page.wait_for_load_state("networkidle")
        taken = page.screenshot()
        chromium.close()
    return taken


def main() -> None:
    """Serves the models of `make demo`, or of a folder, and writes `page.png`."""
    folder = ROOT / "out" / "demo"
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
    command = [sys.executable, "-m", "elmo_tasks", "serve", "--port", "0"]
    command += archives(folder / "runs")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            ready = json.loads(server.stdout.readline())
            taken = picture(ready["url"])
        finally:
            server.terminate()
    image = Image.open(io.BytesIO(taken)).convert("RGB")
    few = image.quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(Path(__file__).with_suffix(".png"), optimize=True)


if __name__ == "__main__":
    main()
