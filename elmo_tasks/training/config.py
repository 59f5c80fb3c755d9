"""
Finding and reading a config, its overrides and its `seed`, which stands for AllenNLP's
three keys, and the differences between two configs. Its values are objects and lists in
each other; the paths of their parts are dotted, as `-o` writes them
(`model.encoder.hidden_sizes.0`). Only `read_config` needs AllenNLP.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _jsonnet import evaluate_file, evaluate_snippet

from elmo_tasks.errors import InputError, nearest
from elmo_tasks.formats.fetching.fetch import local_path
from elmo_tasks.formats.json_files import require_object
from elmo_tasks.resources import (
    DATA_VARIABLE,
    SCALES,
    configs_root,
    data_root,
    scale_folder,
)
from elmo_tasks.settings import Seed, require_none, wrong_values

if TYPE_CHECKING:
    from allennlp.common import Params


OBJECTS = (
    "dataset_reader",
    "validation_dataset_reader",
    "model",
    "data_loader",
    "validation_data_loader",
    "trainer",
    "vocabulary",
    "evaluation",
)
"""The keys of a config whose values are objects of registered classes."""

_SURROGATES = re.compile(r"[\ud800-\udfff]")
"""Of bytes that are not Unicode, which Jsonnet does not take."""


def find_config(name: str, scale: str | None = None) -> str:
    """
    The file that a command line names: a path, or a config of this package, such as
    `ner_elmo`, at a scale (`mini`). Raises `InputError` if there is none of this name,
    or a path has a scale.
    """
    is_file = os.path.exists(name) and not os.path.isdir(name)
    is_path = Path(name).name != name or Path(name).suffix != ""
    if name and not is_file and not is_path:
        return find_embedded(name, scale_folder(configs_root(), scale or SCALES[0]))
    if scale is not None:
        problem = f"expected the name of a bundled config, got the path {name}"
        hint = "leave out --scale: a config has the scale of its folder"
        raise InputError(f"--scale: {problem}", hint=hint)
    return name


def find_embedded(name: str, folder: Path) -> str:
    """A file in a folder of `training_config`. Raises `InputError` if there is none."""
    file = folder / f"{name}.jsonnet"
    if file.is_file():
        return str(file)
    hint = "`elmo-tasks configs` lists all"
    near = nearest(name, [path.stem for path in file.parent.glob("*.jsonnet")])
    if near is not None:
        hint = f"nearest: {near}; {hint}"
    place = folder.relative_to(configs_root().parent)
    problem = f"expected a file, or a name in {place}, got {name}"
    raise InputError(problem, hint=hint)


def read_config(file: str | os.PathLike[str], overrides: str = "") -> "Params":
    """
    The config in a Jsonnet file, changed by the Jsonnet object `overrides`, as
    `Params.from_file`. Raises `InputError` as `evaluate` does, or if either is not an
    object, or the file is not a regular one: Jsonnet aborts the process on a folder,
    and waits for a pipe.
    """
    from allennlp.common import Params
    from allennlp.common.params import with_overrides

    path = Path(file)
    if not os.fspath(file):
        raise InputError("expected a configuration file, got an empty name")
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a pipe or a device"
        raise InputError(f"expected a configuration file, got {kind}", file=path)
    config = require_object(evaluate(file), file=path)
    write_out_types(config)
    if not overrides:
        return Params(config)
    evaluated = evaluate_snippet("-o", overrides, ext_vars=_variables())
    changes = require_object(json.loads(evaluated), "a JSON object in -o")
    try:
        changed = with_overrides(config, changes)
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        problem = f"the overrides (-o) do not fit the config: {error}"
        raise InputError(problem) from error
    return Params(changed)


def evaluate(
    file: str | os.PathLike[str],
    code: Mapping[str, str] | None = None,
    **variables: str,
) -> Any:
    """
    The value of a Jsonnet file, in which `std.thisFile` and the data root are absolute,
    so that it holds in any folder. `code` has the Jsonnet of other external variables.
    Raises `InputError` if it needs the data root and there is none; `RuntimeError` for
    Jsonnet's errors.
    """
    path = os.path.abspath(local_path(os.fspath(file)))
    given = _variables() | variables
    if not os.path.exists(path):
        raise FileNotFoundError(f"file {file} not found")
    try:
        evaluated = evaluate_file(path, ext_vars=given, ext_codes=code or {})
    except RuntimeError as error:
        needs_root = f"undefined external variable: {DATA_VARIABLE}" in str(error)
        if DATA_VARIABLE in given or not needs_root:
            raise
        hint = "set it to the folder of your corpora"
        raise InputError(f"{DATA_VARIABLE} is not set", file=path, hint=hint) from None
    return mapped(json.loads(evaluated), _normalized)


def _variables() -> dict[str, str]:
    """
    The external variables of a config: those of the environment that are Unicode, in
    which the data root is absolute.
    """
    found = {}
    for name, value in os.environ.items():
        if not _SURROGATES.search(name + value):
            found[name] = value
    found.pop(DATA_VARIABLE, None)
    root = data_root()
    if root is not None:
        found[DATA_VARIABLE] = str(root)
    return found


def _normalized(value: Any) -> Any:
    """The value; an absolute path without `/../`."""
    if isinstance(value, str) and value.startswith("/") and "/../" in value:
        return os.path.normpath(value)
    return value


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """
    What differs between two configs, a line for each key: `model.elmo.mix: "weighted"
    -> "last"`, those that are added last.
    """
    old = dict(_values("", before))
    new = dict(_values("", after))
    lines = []
    for path in old | new:
        if old.get(path) != new.get(path):
            values = old.get(path, "nothing"), new.get(path, "nothing")
            lines.append(f"{path}: {values[0]} -> {values[1]}")
    return lines


def _values(path: str, config: Any) -> Iterator[tuple[str, str]]:
    """The values in an object as JSON, with their paths."""
    if not isinstance(config, Mapping):
        yield path, json.dumps(config, ensure_ascii=False)
        return
    for key, value in config.items():
        yield from _values(below(path, key), value)


def write_out_types(config: MutableMapping[str, Any]) -> None:
    """
    Puts `{"type": NAME}` where a config has only the name of a class, which AllenNLP
    takes for the same: what reads the config finds objects.
    """
    for key in OBJECTS:
        value = config.get(key)
        if isinstance(value, str) and value not in ("", "None"):  # AllenNLP's null
            config[key] = {"type": value}


def below(path: str, key: object) -> str:
    """The path of a part."""
    if not path:
        return str(key)
    return f"{path}.{key}"


def items(value: Any) -> Iterable[tuple[Any, Any]]:
    """
    Keys and values of an object, indices and values of a list, nothing of other values.
    """
    if isinstance(value, dict):
        return value.items()
    if isinstance(value, list | tuple):
        return enumerate(value)
    return ()


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """
    The value with `function` applied to all but dictionaries, lists, tuples and sets;
    dictionaries become plain.
    """
    if isinstance(value, dict):
        return {key: mapped(part, function) for key, part in value.items()}
    if isinstance(value, list | tuple | set):
        return type(value)(mapped(part, function) for part in value)
    return function(value)


def get(config: Any, path: str) -> Any:
    """The value at a path; `None` if there is none."""
    for key in path.split("."):
        if isinstance(config, Mapping):
            config = config.get(key)
        elif isinstance(config, list) and key.isdigit() and int(key) < len(config):
            config = config[int(key)]
        else:
            return None
    return config


def strings(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """The strings in a value, with their paths."""
    if isinstance(value, str):
        yield path, value
    for key, part in items(value):
        yield from strings(below(path, key), part)


SEED = "seed"
SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")
"""AllenNLP's keys for Python, NumPy and PyTorch."""


def spread_seed(params: "Params") -> None:
    """
    Replaces the key `seed` of a config by AllenNLP's three. Raises `InputError` if it
    is invalid.
    """
    seed = params.pop(SEED, None)
    if seed is not None:
        given = [key for key in SEEDS if key in params]
        if given:
            problem = f"seed sets {', '.join(SEEDS)}, but the config also has {', '.join(given)}"
            raise InputError(problem, hint="remove one of them")
        _require_valid(SEED, seed)
        params.params.update(dict.fromkeys(SEEDS, seed))
    for key in SEEDS:
        value = params.get(key)
        if value is not None:
            _require_valid(key, value)


def _require_valid(key: str, seed: Any) -> None:
    """Raises `InputError` for a seed that NumPy does not take."""
    require_none(wrong_values(key, Seed, seed))
