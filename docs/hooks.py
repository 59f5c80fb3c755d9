"""MkDocs: pages beside docs/, links to files that are not pages of the site, and equations as MathML."""

import re
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("CONTRIBUTING.md", "CHANGELOG.md")
CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
NO_RUN = re.compile(r"^```(bash|python) no-run:.*$", re.MULTILINE)
HTML_CODE = re.compile(r"(<(?:pre|code|script|style|svg)\b.*?</(?:pre|code|script|style|svg)>)", re.DOTALL)
INLINE = re.compile(r"\$([^$]{1,80})\$")
EQUATION = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages beside docs/."""
    for name in BESIDE:
        files.append(File.generated(config, name, content=(ROOT / name).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Points each link at the page, or at the file in the repository."""
    folder = Path("docs" if page.file.src_uri not in BESIDE else ".", page.file.src_uri).parent

    def target(found: re.Match[str]) -> str:
        path, anchor = found[1], found[2] or ""
        absolute = (ROOT / folder / path).resolve()
        if not absolute.exists():
            return found[0]  # MkDocs reports it
        inside = absolute.relative_to(ROOT).as_posix()
        page_name = inside if inside in BESIDE else inside.removeprefix("docs/")
        if (inside in BESIDE or inside.startswith("docs/")) and files.get_file_from_path(page_name):
            up = "../" * page.file.src_uri.count("/")
            return f"]({up}{page_name}{anchor})"
        return f"]({config.extra['repository']}/blob/main/{inside}{anchor})"

    parts = CODE.split(NO_RUN.sub(r"```\1", markdown))  # text and code alternate
    parts[::2] = [LINK.sub(target, EQUATION.sub(_mathml, text)) for text in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """The equations of notebooks, which are HTML already."""
    if not page.file.src_uri.endswith(".ipynb"):
        return html
    parts = HTML_CODE.split(html)
    parts[::2] = [INLINE.sub(_inline, EQUATION.sub(_mathml, text)) for text in parts[::2]]
    return "".join(parts)


def _mathml(found: re.Match[str]) -> str:
    return convert(unescape(found[1].strip()), display="block")


def _inline(found: re.Match[str]) -> str:
    return convert(unescape(found[1]))
