"""
Put a built site into the folder of all published versions, the branch `gh-pages`.

    python docs/publish.py build/site FOLDER latest
    python docs/publish.py build/site FOLDER 0.1.0

`latest` is the site of the branch `main`; a release keeps its own. The folder's
versions.json is what the pages' menu of versions reads, and its index.html leads to the
newest release, or to `latest` before the first one. 404.html is the newest's, too: GitHub
Pages shows it for addresses that do not exist.
"""

import json
import re
import shutil
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LATEST = "latest"
VERSION = re.compile(r"\d+\.\d+\.\d+")
REDIRECT = '<!doctype html><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0; url={}/">\n'


def publish(site: Path, folder: Path, name: str) -> None:
    """Copies the site to FOLDER/NAME, in place of one of that name."""
    if name != LATEST and not VERSION.fullmatch(name):
        raise SystemExit(f"expected {LATEST} or a version such as 0.1.0, got {name}")
    if (folder / name).exists():
        shutil.rmtree(folder / name)
    shutil.copytree(site, folder / name)
    releases = [one.name for one in folder.iterdir() if VERSION.fullmatch(one.name)]
    releases.sort(key=numbers, reverse=True)
    names = releases
    if (folder / LATEST).exists():
        names = [LATEST, *releases]
    entries = [{"version": one, "url": f"{address()}{one}/"} for one in names]
    (folder / "versions.json").write_text(json.dumps(entries, indent=1) + "\n")
    newest = releases[0] if releases else LATEST
    (folder / "index.html").write_text(REDIRECT.format(newest))
    shutil.copy(folder / newest / "404/index.html", folder / "404.html")
    (folder / ".nojekyll").touch()  # Jekyll would leave out _static


def numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def address() -> str:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return str(settings["project"]["urls"]["Documentation"])


if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
