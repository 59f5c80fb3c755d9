"""What may be wrong with the keys of `model.elmo`, as far as can be told without the files."""

import inspect
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from elmo_tasks.bilm.bilm import STATES
from elmo_tasks.bilm.packed_linear import PRECISIONS
from elmo_tasks.elmo.scalar_mix import LAYER_NORMS, MIXES, WEIGHTED, choices, is_mix
from elmo_tasks.errors import InputError

REGISTERED_AS = "elmo_tasks"

BILM, COVE = "bilm", "cove"

SOURCES = (BILM, COVE)
"""Where the layers come from."""

PLACES = ("input", "output", "both")
"""Before the lowest encoder of a task model, behind it, or both (paper, section 3.3 and Table 3)."""

FILES = ("options_file", "weight_file", "vectors_file")

Fault = tuple[str, str, object]
"""A key of the config, what it must be, and what it is."""


def refuse(faults: Iterable[Fault], *, unknown: Iterable[str] = (), known: Iterable[str] = ()) -> None:
    """
    # Raises

    `InputError` listing all faults, if there are any.
    """
    found = [f"unknown key {key!r}, known are {', '.join(known)}" for key in unknown]
    found += [f"{key} must be {wanted}, found {value!r}" for key, wanted, value in faults]
    if found:
        raise InputError("elmo: " + "; ".join(found))


def validate_config(config: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[Fault]:
    """Those of a whole config, with the defaults of the keys that it has not."""
    values = {**defaults, **config}
    if values.get("type", REGISTERED_AS) != REGISTERED_AS:
        yield "type", f"{REGISTERED_AS} or absent", values["type"]
    if not isinstance(values["archive"], bool):
        yield "archive", "true or false", values["archive"]
    files = {key: values[key] for key in FILES}
    given = {key: values[key] for key in ("archive", "state", "precision")}
    yield from validate_source(values["source"], files, **given)
    yield from validate_mixing(**{key: values[key] for key in inspect.signature(validate_mixing).parameters})


def validate_mixing(
    *,
    at: object,
    mix: object,
    l2: object,
    layer_norm: object,
    gamma: object,
    dropout: object,
    state: object,
    cache_dir: object,
    cache_limit_gb: object,
) -> Iterator[Fault]:
    """Those of all that is done with the layers."""
    for key, value, values in (("at", at, PLACES), ("layer_norm", layer_norm, LAYER_NORMS), ("state", state, STATES)):
        if value not in values:
            yield key, f"one of {choices(values)}", value
    if not is_mix(mix):
        yield "mix", f"one of {choices(MIXES)}", mix
    if not isinstance(gamma, bool):
        yield "gamma", "true or false", gamma
    if l2 is not None and not 0.0 <= _number(l2) < math.inf:
        yield "l2", "null or a number of at least 0", l2
    elif l2 and is_mix(mix) and mix != WEIGHTED:
        yield "l2", f"null where mix is {mix}, which has no weights to penalise", l2
    if not 0.0 <= _number(dropout) < 1.0:
        yield "dropout", "a number from 0 up to, not including, 1", dropout
    yield from _faults_of_cache(cache_dir, cache_limit_gb, layer_norm=layer_norm, state=state)


def validate_source(
    source: object, files: Mapping[str, object], *, archive: object, state: object, precision: object
) -> Iterator[Fault]:
    """Those of where the layers come from, and how they are computed."""
    if precision not in PRECISIONS:
        yield "precision", f"one of {choices(PRECISIONS)}", precision
    if source not in SOURCES:
        yield "source", f"one of {choices(SOURCES)}", source
        return
    unused = "options_file" if source == COVE else "vectors_file"
    for key, file in files.items():
        if key != unused and not isinstance(file, str | os.PathLike):
            yield key, "a path or URL", file
    if files[unused] is not None:
        yield unused, f"null where source is {source}", files[unused]
    if source == COVE and archive is True:
        yield "archive", "false where source is cove, whose word vectors are too large for an archive", archive
    if source == COVE and precision in PRECISIONS and precision != "float32":
        yield "precision", "float32 where source is cove", precision
    if source == COVE and state == "carry":
        yield "state", "reset where source is cove, which carries nothing", state


def _faults_of_cache(cache_dir: object, limit_gb: object, *, layer_norm: object, state: object) -> Iterator[Fault]:
    if cache_dir is not None and (not isinstance(cache_dir, str | os.PathLike) or not os.fspath(cache_dir)):
        yield "cache_dir", "null or a path", cache_dir
    elif cache_dir is not None:
        for key, value, dependent in (("state", state, "carry"), ("layer_norm", layer_norm, "batch")):
            if value == dependent:
                yield "cache_dir", f"null where {key} is {value}: vectors then depend on other sentences", cache_dir
    if not 0.0 < _number(limit_gb) < math.inf:
        yield "cache_limit_gb", "a number above 0", limit_gb


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
