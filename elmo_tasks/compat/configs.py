"""Configurations and overrides that are no JSON objects or no regular files: one error in place of an abort."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allennlp.common import Params, params

from elmo_tasks.errors import InputError


def require_objects() -> None:
    """
    Makes `Params.from_file` refuse what is no regular file, and configurations and overrides that are no objects.

    Jsonnet aborts the whole process when it is given a folder or an empty name, as in `allennlp train ""`, and waits
    for a pipe. It can go when Jsonnet raises an error and AllenNLP checks the type of what it returns.
    """
    original = vars(Params)["from_file"].__func__
    if getattr(original, "requires_objects", False):
        return

    def from_file(cls: type[Params], params_file: str | os.PathLike[str], *arguments: Any, **options: Any) -> Params:
        _refuse_other_kinds(params_file)
        return original(cls, params_file, *arguments, **options)

    vars(from_file)["requires_objects"] = True
    Params.from_file = classmethod(from_file)
    params.evaluate_file = _object_of(params.evaluate_file)
    params.evaluate_snippet = _object_of(params.evaluate_snippet)


def _refuse_other_kinds(file: str | os.PathLike[str]) -> None:
    path = Path(file)
    if not os.fspath(file):
        raise InputError("expected a configuration file, got an empty name")
    if path.is_dir():
        raise InputError("expected a configuration file, got a folder", file=path)
    if path.exists() and not path.is_file():
        raise InputError("expected a configuration file, got a pipe or a device", file=path)


def _object_of(evaluate: Callable[..., str]) -> Callable[..., str]:
    """A function of Jsonnet whose first argument names a file, or is empty for the text of overrides."""

    def wrapper(name: str, *arguments: Any, **options: Any) -> str:
        evaluated = evaluate(name, *arguments, **options)
        if not isinstance(value := json.loads(evaluated), dict):
            place = "" if name else " in -o"
            raise InputError(f"expected a JSON object{place}, got {json.dumps(value)}", file=name or None)
        return evaluated

    return wrapper
