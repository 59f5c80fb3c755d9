"""
The two formats of a biLM's files, and their names in a folder: the official
`options.json` and `weights.hdf5`, or `config.json` and `model.safetensors` as of other
models of the Hugging Face hub.
"""

from collections.abc import Collection, Mapping
from fnmatch import filter as filter_names
from pathlib import Path
from typing import Any, Literal

from elmo_tasks.errors import InputError
from elmo_tasks.system.run_names import (
    CONFIG,
    OPTIONS_FILE,
    SAFETENSORS_FILE,
    WEIGHT_FILE,
)

Format = Literal["hdf5", "safetensors"]

NAMES: Mapping[Format, Mapping[str, tuple[str, ...]]] = {
    "hdf5": {
        "options_file": (OPTIONS_FILE, "*options*.json"),
        "weight_file": (WEIGHT_FILE, "model.hdf5", "*weights*.hdf5"),
    },
    "safetensors": {
        "options_file": (CONFIG,),
        "weight_file": (SAFETENSORS_FILE,),
    },
}
"""
The names of a biLM's files in a folder, by its format and their keys in a config; the
first is also that in a repository of the hub, and of a file that is written.
"""

PATTERNS = tuple([name for of in NAMES.values() for key in of.values() for name in key])
"""Of all names."""

FORMATS: tuple[Format, ...] = tuple(NAMES)
"""In the order in which a folder is searched for them."""

MODEL_TYPE = {"model_type": "elmo", "architectures": ["BiLM"]}
"""What a `config.json` says to the hub, besides the structure of `options.json`."""

_STRUCTURE = {"lstm", "char_cnn"}
"""The keys of that structure, which no other model has."""

_HDF5 = b"\x89HDF"
"""The first bytes of a file of HDF5."""

_HEADER_LENGTH = 8  # bytes before the JSON at the start of a file of safetensors


def written_names(chosen: Format) -> dict[str, str]:
    """The names of the files that are written, by their keys in a config."""
    return {key: names[0] for key, names in NAMES[chosen].items()}


def weight_format(weight_file: str | Path) -> Format:
    """
    The format of a file of weights, from its content, or from the end of its name if
    the file does not exist yet.
    """
    path = Path(weight_file)
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(_HEADER_LENGTH + 1)
        if start[_HEADER_LENGTH:] == b"{":
            return "safetensors"
        if start.startswith(_HDF5):
            return "hdf5"
    return named_format(path)


def named_format(weight_file: str | Path) -> Format:
    """The format that the end of a file's name means."""
    if Path(weight_file).suffix == ".safetensors":
        return "safetensors"
    return "hdf5"


def files_among(names: Collection[str], config: Any, given: str) -> dict[str, str]:
    """
    The files of the biLM in a folder, by their keys: of the first format of which it has
    both, else as many as there are.

    # Parameters

    - `names`: all files in the folder.
    - `config`: the content of its `config.json`, `None` without one.
    - `given`: what errors call the folder.

    Raises `InputError` if it has several biLMs.
    """
    most: dict[str, str] = {}
    for chosen in FORMATS:
        found = {}
        for key, patterns in NAMES[chosen].items():
            name = _first(names, patterns, given)
            if name is not None:
                found[key] = name
        if chosen == "safetensors" and not is_bilm_config(config):
            found.pop("options_file", None)
        if len(found) > len(most):
            most = found
    return most


def is_in(names: Collection[str], config: Any) -> bool:
    """
    Whether files with these names are those of a biLM. `config` is the content of
    their `config.json`.
    """
    if is_bilm_config(config) or OPTIONS_FILE in names:
        return True
    weights = NAMES["hdf5"]["weight_file"]
    return any(filter_names(names, pattern) for pattern in weights)


def is_bilm_config(config: Any) -> bool:
    """
    Whether the content of a `config.json` is that of a biLM, and not of a transformer
    or ELMoForManyLangs.
    """
    return isinstance(config, Mapping) and config.keys() >= _STRUCTURE


def _first(names: Collection[str], patterns: tuple[str, ...], given: str) -> str | None:
    """The file that fits the first of the patterns that any fits."""
    for pattern in patterns:
        found = sorted(filter_names(names, pattern))
        if len(found) > 1:
            raise InputError(
                f"expected one biLM, got {', '.join(found)}",
                file=given,
                hint="name its two files, OPTIONS.json+WEIGHTS.hdf5",
            )
        if found:
            return found[0]
    return None
