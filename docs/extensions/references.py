"""
Names in docstrings and types that are not on an API page. Those of this package lead to
their source, those of Python and PyTorch to their documentation. A name of this package
that does not exist is left for Sphinx, which warns.
"""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "https://docs.python.org/3/library"
TORCH = "https://docs.pytorch.org/docs/stable"
ELSEWHERE = {
    r"(pathlib|argparse|collections\.abc|typing|logging)\.\w+": PYTHON
    + r"/\1.html#\g<0>",
    r"torch\.Tensor": TORCH + r"/tensors.html#\g<0>",
    r"torch\.nn\.[\w.]+": TORCH + r"/generated/\g<0>.html",
}
"""Patterns of names, and the addresses of their documentation."""

OTHERS = ("allennlp.", "spacy.", "torch.", "numpy.", "sentence_transformers.")


def resolve(
    app: Sphinx, env: BuildEnvironment, node: Any, content: nodes.TextElement
) -> nodes.Node | None:
    """The node of a reference, plain text where there is nothing to lead to."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    known = objects_named(target, app)
    if len(known) == 1:
        return env.domains.python_domain.resolve_xref(
            env, node["refdoc"], app.builder, "obj", known[0], node, content
        )
    for pattern, address in ELSEWHERE.items():
        found = re.fullmatch(pattern, target)
        if found is not None:
            return link(found.expand(address), content)
    if target.startswith("elmo_tasks."):
        source = address_of(target, app)
        return source and link(source, content)
    if target.startswith(OTHERS) or node["reftype"] == "obj":
        return content
    return None


def objects_named(target: str, app: Sphinx) -> list[str]:
    """The objects of the pages that `InputError` or `Elmo.embed` can mean."""
    if not target[0].isupper():
        return []
    objects = app.env.domains.python_domain.objects
    found = []
    for name, entry in objects.items():
        if name.endswith(f".{target}") and not entry.aliased:
            found.append(name)
    return found


def address_of(name: str, app: Sphinx) -> str | None:
    """The line of the repository that defines an object of this package."""
    module_name, _, attribute = name.rpartition(".")
    try:
        module = importlib.import_module(module_name)
        found = getattr(module, attribute)
    except (ImportError, AttributeError):
        return None
    file = Path(str(module.__file__))
    address = f"{app.config.repository}/blob/main/{file.relative_to(ROOT)}"
    if inspect.isclass(found) or inspect.isfunction(found):
        address += f"#L{inspect.getsourcelines(found)[1]}"
    return address


def link(address: str, content: nodes.TextElement) -> nodes.reference:
    return nodes.reference("", "", content, refuri=address, internal=False)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True}
