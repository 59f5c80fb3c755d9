"""The published versions of the site."""

import json
import runpy
from pathlib import Path

import pytest

from tests.tiny import ROOT

publish = runpy.run_path(str(ROOT / "docs" / "publish.py"))["publish"]
ADDRESS = "https://elmo-tasks.github.io/elmo-tasks/"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    (folder / "404").mkdir(parents=True)
    (folder / "404" / "index.html").touch()
    return folder


def test_latest_is_replaced_and_releases_stay(site: Path, tmp_path: Path) -> None:
    published = tmp_path / "published"
    for name in ("latest", "0.9.0", "0.10.0", "latest"):
        for old in site.glob("page-*"):
            old.unlink()
        (site / f"page-{name}.html").touch()
        (site / "404" / "index.html").write_text(f"404 of {name}")
        published.mkdir(exist_ok=True)
        (published / "latest").mkdir(exist_ok=True)
        (published / "latest" / "gone.html").touch()
        publish(site, published, name)
    pages = [
        file.relative_to(published).as_posix() for file in published.rglob("page-*")
    ]
    assert sorted(pages) == [
        "0.10.0/page-0.10.0.html",
        "0.9.0/page-0.9.0.html",
        "latest/page-latest.html",
    ]
    assert not (published / "latest" / "gone.html").exists()
    versions = json.loads((published / "versions.json").read_text())
    assert versions == [
        {"version": name, "url": f"{ADDRESS}{name}/"}
        for name in ("latest", "0.10.0", "0.9.0")
    ]
    assert "url=0.10.0/" in (published / "index.html").read_text()
    assert (published / "404.html").read_text() == "404 of 0.10.0"
    assert (published / ".nojekyll").exists()


def test_before_the_first_release_the_address_leads_to_latest(
    site: Path, tmp_path: Path
) -> None:
    published = tmp_path / "published"
    published.mkdir()
    publish(site, published, "latest")
    assert "url=latest/" in (published / "index.html").read_text()
    assert (published / "404.html").exists()


def test_a_name_that_is_no_version_publishes_nothing(
    site: Path, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match="expected latest or a version"):
        publish(site, tmp_path / "published", "../elsewhere")
    assert not (tmp_path / "published").exists()
