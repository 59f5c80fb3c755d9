"""
The API pages: docstrings in Markdown, signatures without ranges and meanings, which
stand in a list of parameters instead.
"""

import inspect
import re
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo
from sphinx.application import Sphinx
from sphinx.util.inspect import signature, stringify_signature

from elmo_tasks.settings import LARGEST, LARGEST_FLOAT, WIDEST, meaning

FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
HEADING = re.compile(r"^( *)#+ (.+)$", re.MULTILINE)
NAME = re.compile(r"[A-Za-z_][\w.]*")


def convert(
    app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]
) -> None:
    """Turns the lines into reStructuredText, and adds the parameters."""
    text = markdown_to_rst("\n".join(lines))
    if what in ("class", "function", "method") and callable(found):
        text += "\n\n" + "\n".join(parameters(found)) + "\n"
    lines[:] = text.splitlines()


def markdown_to_rst(text: str) -> str:
    text = HEADING.sub(r"\1.. rubric:: \2", text)
    parts = FENCED.split(text)  # text, indentation, language, code, text, ...
    converted = CODE.sub(role, parts[0])
    for start in range(1, len(parts), 4):
        indentation, language, code, after = parts[start : start + 4]
        converted += f"{indentation}.. code-block:: {language or 'text'}\n\n"
        for line in code.splitlines():
            converted += f"   {line}\n"
        converted += CODE.sub(role, after)
    return converted


def role(found: re.Match[str]) -> str:
    """A name stays, as a reference if there is such an object; the rest is code."""
    if NAME.fullmatch(found[1]):
        return found[0]
    return f"``{' '.join(found[1].split())}``"


def parameters(function: Any) -> list[str]:
    """A field for each parameter that has a meaning or a range."""
    fields = []
    try:
        found = signature(function)
    except (TypeError, ValueError):
        return []
    for name, parameter in found.parameters.items():
        stated = [meaning(parameter.annotation), limits(parameter.annotation)]
        text = "; ".join(filter(None, stated))
        if text:
            fields.append(f":param {name}: {CODE.sub(role, text)}")
    return fields


def limits(annotation: Any) -> str:
    """The valid numbers of a type that is a number, or null; not of other unions."""
    if get_origin(annotation) is not Annotated:
        others = [part for part in get_args(annotation) if part is not NoneType]
        if len(others) != 1:
            return ""
        (annotation,) = others
    if get_args(annotation)[0:1] in ((int,), (float,)):
        return in_words(annotation)
    return ""


NAMES = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a string",
    NoneType: "null",
    Path: "a path",
}
"""Of types, in pages."""

COMPUTABLE = (LARGEST, LARGEST_FLOAT, WIDEST)
"""Limits that only keep numbers computable."""


def in_words(annotation: Any) -> str:
    """An `Annotated` number with its limits, such as `an integer of at least 1`."""
    kind, *rest = get_args(annotation)
    limits: dict[type, Any] = {}
    for one in rest:
        if isinstance(one, FieldInfo):
            limits |= {type(part): part for part in one.metadata}
    least = getattr(limits.get(Ge), "ge", None)
    most = getattr(limits.get(Le), "le", None)
    if least == -LARGEST_FLOAT:
        least = None
    if most in COMPUTABLE:
        most = None
    if least is not None and most is not None:
        return f"{NAMES[kind]} from {least} to {most}"
    stated = []
    if least is not None:
        stated.append(f"of at least {least}")
    if Gt in limits:
        stated.append(f"above {limits[Gt].gt}")
    if Lt in limits:
        stated.append(f"below {limits[Lt].lt}")
    if most is not None:
        stated.append(f"up to {most}")
    return f"{NAMES[kind]} {' and '.join(stated) or 'that is finite'}"


class Named(str):
    """A default that is shown without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def plain_signature(
    app: Sphinx,
    what: str,
    name: str,
    found: Any,
    options: Any,
    text: Any,
    returned: Any,
) -> tuple[str, str | None] | None:
    """
    The signature of types alone: `Annotated[int, Field(...)]` is `int`. A default that
    is a function is shown by its name.
    """
    if text is None or not re.search("Annotated|<function", text):
        return None
    is_bound = what == "method" and inspect.isfunction(found)
    complete = signature(found, bound_method=is_bound)
    plain = []
    for parameter in complete.parameters.values():
        parameter = parameter.replace(annotation=without_parts(parameter.annotation))
        if inspect.isfunction(parameter.default):
            parameter = parameter.replace(default=Named(parameter.default.__name__))
        plain.append(parameter)
    complete = complete.replace(parameters=plain)
    complete = complete.replace(return_annotation=inspect.Signature.empty)
    return stringify_signature(complete, unqualified_typehints=True), returned


def without_parts(annotation: Any) -> Any:
    """A type without what `Annotated` adds, also in its arguments."""
    arguments = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return without_parts(arguments[0])
    plain = tuple(without_parts(one) for one in arguments)
    if plain == arguments:
        return annotation
    if isinstance(plain[0], list) or get_origin(annotation) is None:
        return annotation
    if hasattr(annotation, "copy_with"):
        return annotation.copy_with(plain)
    return get_origin(annotation)[plain]


def left_out(
    app: Sphinx, what: str, name: str, found: Any, skip: bool, options: Any
) -> bool | None:
    """
    Leaves out pydantic's own attributes, and methods without a docstring, to which the
    decorator `overrides` copies that of AllenNLP.
    """
    if name == "model_config":
        return True
    if getattr(found, "__override__", False) and '"""' not in inspect.getsource(found):
        return True
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", convert)
    app.connect("autodoc-process-signature", plain_signature)
    app.connect("autodoc-skip-member", left_out)
    return {"parallel_read_safe": True}
