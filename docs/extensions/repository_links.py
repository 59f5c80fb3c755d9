"""
Links as they are on GitHub: to a page beside docs/ they lead to its page here, to any
other file of the repository they lead there. A link to nothing is left for MyST, which
warns. A link that names a definition, such as [`bilm/lstm.py`: `LstmStack`](...), or an
expression in a line, leads to that line.
"""

import ast
import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BESIDE = {
    ROOT / "CHANGELOG.md": DOCS / "changelog.md",
    ROOT / "CONTRIBUTING.md": DOCS / "contributing.md",
    ROOT / "LICENSE": DOCS / "licence.md",
    ROOT / "NOTICE": DOCS / "licence.md",
}
"""Files of the repository that a page includes."""

CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
DEFINITION = re.compile(r"(\[`([\w/]+\.py)`: `([^`]+)`\]\([./]*/elmo_tasks/\2)\)")


def with_lines(text: str) -> str:
    """The text with the lines of the definitions that its links name."""

    def link(found: re.Match[str]) -> str:
        return f"{found[1]}#L{line_of(found[2], found[3])})"

    return DEFINITION.sub(link, text)


def line_of(file: str, name: str) -> int:
    """
    The line of elmo_tasks/`file` in which the class, function or method `name` begins, or
    the only one that contains this expression.
    """
    text = (ROOT / "elmo_tasks" / file).read_text("utf-8")
    lines = []
    if re.fullmatch(r"[\w.]+", name):
        lines = lines_of_definitions(ast.parse(text), "", name)
    else:
        for number, content in enumerate(text.splitlines(), start=1):
            if name in content:
                lines.append(number)
    if len(lines) != 1:
        raise ValueError(f"elmo_tasks/{file} has `{name}` in {len(lines)} places")
    return lines[0]


def lines_of_definitions(tree: ast.AST, prefix: str, name: str) -> list[int]:
    """The lines of the definitions of a name such as `LstmStack.forward`."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            if prefix + node.name == name:
                found.append(node.lineno)
            found += lines_of_definitions(node, f"{prefix}{node.name}.", name)
    return found


def rewrite(text: str, folder: Path, page: Path, app: Sphinx) -> str:
    """The text of a file in `folder` as a part of `page`, which is below docs/."""

    def link(found: re.Match[str]) -> str:
        file = (folder / found[1]).resolve()
        anchor = found[2] or ""
        if not file.exists():
            return found[0]
        file = BESIDE.get(file, file)
        if is_on_site(file, app):
            return f"]({os.path.relpath(file, page.parent)}{anchor})"
        kind = "tree" if file.is_dir() else "blob"
        path = file.relative_to(ROOT).as_posix()
        return f"]({app.config.repository}/{kind}/main/{path}{anchor})"

    parts = CODE.split(text)  # text and code alternate
    parts[::2] = [LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def is_on_site(file: Path, app: Sphinx) -> bool:
    """If a file is a page of the site or a picture in one."""
    is_picture = file.suffix in (".svg", ".png")
    return is_picture or app.project.path2doc(file) in app.project.docnames


def read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(docname))
    source[0] = rewrite(with_lines(source[0]), page.parent, page, app)


def read_included(app: Sphinx, path: Path, docname: str, content: list[str]) -> None:
    file = (DOCS / path).resolve()
    page = Path(app.env.doc2path(docname))
    content[0] = rewrite(content[0], file.parent, page, app)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("repository", "", "env")
    app.connect("source-read", read_source)
    app.connect("include-read", read_included)
    return {"parallel_read_safe": True}
