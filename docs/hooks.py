"""
MkDocs: pages beside docs/, links to files that are not pages of the site, and equations
as MathML.
"""

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
HTML_CODE = re.compile(
    r"(<(?:pre|code|script|style|svg)\b.*?</(?:pre|code|script|style|svg)>)", re.DOTALL
)
INLINE = re.compile(r"\$([^$]{1,80})\$")
EQUATION = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
HTML_LINK = re.compile(r'\b(href|src)="(?!https?:|#|mailto:|data:|/)([^"#]+)(#[^"]*)?"')


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages beside docs/."""
    for name in BESIDE:
        files.append(
            File.generated(config, name, content=(ROOT / name).read_text("utf-8"))
        )
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Points each link at the page, or at the file in the repository."""

    def target(found: re.Match[str]) -> str:
        path = found[1]
        anchor = found[2] or ""
        if not (_folder(page) / path).exists():
            return found[0]  # MkDocs reports it
        file = _file(page, path, files)
        if file is None:
            return f"]({_in_repository(page, path, config)}{anchor})"
        to_root = "../" * page.file.src_uri.count("/")
        return f"]({to_root}{file.src_uri}{anchor})"

    def convert_text(text: str) -> str:
        return LINK.sub(target, EQUATION.sub(_mathml, text))

    parts = CODE.split(NO_RUN.sub(r"```\1", markdown))  # text and code alternate
    parts[::2] = [convert_text(text) for text in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """
    The equations and links of notebooks, which are HTML already, and pictures in HTML.
    """

    def target(found: re.Match[str]) -> str:
        name = found[1]
        path = unescape(found[2])
        anchor = found[3] or ""
        if not (_folder(page) / path).exists():
            return found[0]
        address = _in_repository(page, path, config)
        file = _file(page, path, files)
        if file is not None:
            address = file.url_relative_to(page.file)
        return f'{name}="{address}{anchor}"'

    def convert_text(text: str) -> str:
        if page.file.src_uri.endswith(".ipynb"):
            text = INLINE.sub(_inline, EQUATION.sub(_mathml, text))
        return HTML_LINK.sub(target, text)

    parts = HTML_CODE.split(html)
    parts[::2] = [convert_text(text) for text in parts[::2]]
    return "".join(parts)


def _folder(page: Any) -> Path:
    """The folder of a page's source."""
    root = ROOT if page.file.src_uri in BESIDE else ROOT / "docs"
    return (root / page.file.src_uri).parent


def _inside(page: Any, path: str) -> str:
    return (_folder(page) / path).resolve().relative_to(ROOT).as_posix()


def _file(page: Any, path: str, files: Files) -> File | None:
    """The file of the site that a page's link leads to, if it is one."""
    inside = _inside(page, path)
    if inside not in BESIDE and not inside.startswith("docs/"):
        return None
    file = files.get_file_from_path(inside.removeprefix("docs/"))
    if file is None or file.inclusion.is_excluded():
        return None
    return file


def _in_repository(page: Any, path: str, config: Any) -> str:
    return f"{config.extra['repository']}/blob/main/{_inside(page, path)}"


def _mathml(found: re.Match[str]) -> str:
    return convert(unescape(found[1].strip()), display="block")


def _inline(found: re.Match[str]) -> str:
    return convert(unescape(found[1]))
