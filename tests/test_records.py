"""Dataclasses of the package are records that nothing changes, but for a few."""

import ast
import importlib
import inspect
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from tests.tiny import ROOT

CHANGING = {
    "elmo_tasks.cli.running.line_predictions.Line",
    "elmo_tasks.pretraining.text.stream.LmBatch",
}
"""Those of which a field is set later."""


def public_dataclasses() -> list[str]:
    """The full names of the dataclasses whose names do not begin with `_`."""
    found = []
    for path in sorted((ROOT / "elmo_tasks").rglob("*.py")):
        text = path.read_text("utf-8")
        if "@dataclass" not in text:
            continue
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.parse(text).body:
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            decorators = [ast.unparse(one) for one in node.decorator_list]
            if any(one.startswith("dataclass") for one in decorators):
                found.append(f"{module}.{node.name}")
    return found


def defined_again(name: str) -> Any:
    """
    The class by its statement, which is executed once more: the lines of a class are
    otherwise executed when its module is imported, and nothing would tell that this
    test depends on them.
    """
    module_name, _, class_name = name.rpartition(".")
    module = importlib.import_module(module_name)
    lines, first = inspect.getsourcelines(getattr(module, class_name))
    source = "\n" * (first - 1) + "".join(lines)
    namespace = dict(vars(module))
    exec(compile(source, str(module.__file__), "exec"), namespace)
    return namespace[class_name]


@pytest.mark.parametrize("name", public_dataclasses())
def test_records_are_frozen(name: str) -> None:
    record_class = defined_again(name)
    record = object.__new__(record_class)
    for field in fields(record_class):
        if name in CHANGING:
            setattr(record, field.name, None)
            continue
        with pytest.raises(FrozenInstanceError):
            setattr(record, field.name, None)


def test_the_changing_ones_exist() -> None:
    assert set(public_dataclasses()) >= CHANGING
