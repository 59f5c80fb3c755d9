"""Reading a config and its overrides, and the differences between two configs."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.file_utils import cached_path
from allennlp.common.params import _environment_variables, evaluate_file, evaluate_snippet, with_overrides

from elmo_tasks.errors import InputError


def read_config(file: str | os.PathLike[str], overrides: str = "") -> Params:
    """
    The config in a Jsonnet file, changed by the Jsonnet object `overrides`, as `Params.from_file`. Raises `InputError`
    if either is not an object, or the file is not a regular one: Jsonnet aborts the process on a folder, and waits for
    a pipe.
    """
    path = Path(file)
    if not os.fspath(file):
        raise InputError("expected a configuration file, got an empty name")
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a pipe or a device"
        raise InputError(f"expected a configuration file, got {kind}", file=path)
    variables = _environment_variables()
    config = _object(evaluate_file(cached_path(file), ext_vars=variables), "", path)
    if not overrides:
        return Params(config)
    changes = _object(evaluate_snippet("", overrides, ext_vars=variables), " in -o")
    try:
        return Params(with_overrides(config, changes))
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise InputError(f"the overrides (-o) do not fit the config: {error}") from error


def _object(evaluated: str, place: str, file: Path | None = None) -> dict[str, Any]:
    if not isinstance(value := json.loads(evaluated), dict):
        raise InputError(f"expected a JSON object{place}, got {json.dumps(value)}", file=file)
    return value


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two configs, a line for each key: `model.elmo.mix: "weighted" -> "last"`."""
    old, new = (Params(dict(config)).as_flat_dict() for config in (before, after))
    pairs = {key: (old.get(key, ...), new.get(key, ...)) for key in {**old, **new}}
    return [f"{key}: {_shown(one)} -> {_shown(other)}" for key, (one, other) in pairs.items() if one != other]


def _shown(value: Any) -> str:
    return "nothing" if value is ... else json.dumps(value, ensure_ascii=False)
