"""Patches of `allennlp.common.params`, and the differences between two configs."""

import functools
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from allennlp.common import Params, params

from elmo_tasks.errors import InputError


def require_objects() -> None:
    """
    Makes `Params.from_file` reject what is not a regular file, and configs and overrides that are not objects.

    Jsonnet aborts the process on a folder or an empty name, and waits for a pipe. The patch can go when Jsonnet raises
    an error and AllenNLP checks the type of the result.
    """
    original = vars(Params)["from_file"].__func__

    @functools.wraps(original)
    def from_file(cls: type[Params], params_file: str | os.PathLike[str], *arguments: Any, **options: Any) -> Params:
        path = Path(params_file)
        if not os.fspath(params_file):
            raise InputError("expected a configuration file, got an empty name")
        if path.exists() and not path.is_file():
            kind = "a folder" if path.is_dir() else "a pipe or a device"
            raise InputError(f"expected a configuration file, got {kind}", file=path)
        return original(cls, params_file, *arguments, **options)

    Params.from_file = classmethod(from_file)
    params.evaluate_file = _object_of(params.evaluate_file)
    params.evaluate_snippet = _object_of(params.evaluate_snippet)


def _object_of(evaluate: Callable[..., str]) -> Callable[..., str]:
    """A function of Jsonnet. Its first argument is a file, or empty for the text of overrides."""

    def wrapper(name: str, *arguments: Any, **options: Any) -> str:
        evaluated = evaluate(name, *arguments, **options)
        if not isinstance(value := json.loads(evaluated), dict):
            place = "" if name else " in -o"
            raise InputError(f"expected a JSON object{place}, got {json.dumps(value)}", file=name or None)
        return evaluated

    return wrapper


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two configs, a line for each key: `model.elmo.mix: "weighted" -> "last"`."""
    old, new = (Params(dict(config)).as_flat_dict() for config in (before, after))
    pairs = {key: (old.get(key, ...), new.get(key, ...)) for key in {**old, **new}}
    return [f"{key}: {_shown(one)} -> {_shown(other)}" for key, (one, other) in pairs.items() if one != other]


def _shown(value: Any) -> str:
    return "nothing" if value is ... else json.dumps(value, ensure_ascii=False)
