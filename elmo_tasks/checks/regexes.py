"""Regexes of a config that do not compile."""

import re
from collections.abc import Iterator
from typing import Any

from elmo_tasks.checks.problem import Problem, below, items, shown


def regex_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """Invalid regexes, under all keys that AllenNLP reads as regexes."""
    for path, regex in _regexes("", config):
        try:
            re.compile(regex)
        except re.error as error:
            yield Problem(path=path, expected="a regex", got=f"{shown(regex)}: {error}")


def _regexes(path: str, value: Any) -> Iterator[tuple[str, str]]:
    for key, part in items(value):
        here = below(path, key)
        if key in ("prevent_regexes", "no_grad"):
            yield from _strings(here, part)
        elif key in ("regexes", "parameter_groups"):  # pairs of a regex, or of several, and options
            for place, entry in enumerate(part if isinstance(part, list) else ()):
                first = entry[0] if isinstance(entry, list) and entry else None
                yield from _strings(f"{here}.{place}.0", first)
        else:
            yield from _regexes(here, part)


def _strings(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    yield from ((below(path, place), one) for place, one in items(value) if isinstance(one, str))
