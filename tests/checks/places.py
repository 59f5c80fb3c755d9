"""The places in a config, and the config with another value at one."""

import copy
from collections.abc import Iterator
from typing import Any

Place = tuple[str | int, ...]


def places(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """The parts of a config, outer ones first."""
    if place:
        yield place, value
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, (*place, key))
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from places(part, (*place, index))


def changed(config: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    """The config with another value at a place."""
    copied = copy.deepcopy(config)
    part: Any = copied
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return copied
