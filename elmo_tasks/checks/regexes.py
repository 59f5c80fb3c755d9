"""Regexes of a config that are invalid, or match no parameter of the model."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from allennlp.nn import RegularizerApplicator
from torch import nn

from elmo_tasks.checks.problem import Problem, below, get, items, nearest, shown
from elmo_tasks.checks.record import Record


def invalid_regexes(config: dict[str, Any]) -> Iterator[Problem]:
    """Regexes that do not compile, under all keys that AllenNLP reads as regexes."""
    for path, regex in _regexes("", config):
        try:
            re.compile(regex)
        except re.error as error:
            yield Problem(path=path, expected="a regex", got=f"{shown(regex)}: {error}", kind="regex")


def _regexes(path: str, value: Any) -> Iterator[tuple[str, str]]:
    for key, part in items(value):
        here = below(path, key)
        if key in ("prevent_regexes", "no_grad"):
            yield from _strings(here, part)
        elif key in ("regexes", "parameter_groups"):
            for place, entry in enumerate(part if isinstance(part, list) else ()):
                first = entry[0] if isinstance(entry, list) and entry else None
                yield from (
                    [(f"{here}.{place}.0", first)] if isinstance(first, str) else _strings(f"{here}.{place}.0", first)
                )
        else:
            yield from _regexes(here, part)


def regex_problems(config: dict[str, Any], model: nn.Module, record: Record) -> Iterator[Problem]:
    """Regexes that match nothing in a model, which was built from this config and has taken a step."""
    applicators = {id(applicator): applicator for applicator, _ in record.applied}
    for applicator in applicators.values():
        path = record.path_of(applicator)
        if path is not None:
            modules = [module for other, module in record.applied if other is applicator]
            yield from _applicator_problems(below(path, "regexes"), applicator, modules)
    yield from _trainer_problems(config, dict(model.named_parameters()))


def _applicator_problems(path: str, applicator: Any, modules: list[nn.Module]) -> Iterator[Problem]:
    """Each parameter is taken by the first regex that matches it."""
    is_regularizer = isinstance(applicator, RegularizerApplicator)
    pairs = applicator._regularizers if is_regularizer else applicator._initializers
    prevented = None if is_regularizer else applicator._prevent_regex
    parameters = [pair for module in modules for pair in module.named_parameters()]
    names = [name for name, one in parameters if one.requires_grad or not is_regularizer]
    names = [name for name in names if prevented is None or not re.search(prevented, name)]
    taken: set[str] = set()
    for place, (regex, _) in enumerate(pairs):
        matched = _matching([regex], names)
        if not matched:
            yield _unmatched(f"{path}.{place}.0", regex, names)
        elif matched <= taken:
            expected = "a regex that matches a parameter which no earlier regex matches"
            yield Problem(path=f"{path}.{place}.0", expected=expected, got=shown(regex), kind="regex")
        taken |= matched


def _trainer_problems(config: dict[str, Any], parameters: dict[str, nn.Parameter]) -> Iterator[Problem]:
    """Regexes of `no_grad` and of parameter groups; a group can contain what it excludes from training."""
    groups = get(config, "trainer.optimizer.parameter_groups") or []
    frozen = [regex for regexes, options in groups if options.get("requires_grad") is False for regex in regexes]
    trained = _matching(frozen, parameters) | {name for name, one in parameters.items() if one.requires_grad}
    checked = [(*pair, set(parameters)) for pair in _strings("trainer.no_grad", get(config, "trainer.no_grad"))]
    for place, (regexes, _) in enumerate(groups):
        path = f"trainer.optimizer.parameter_groups.{place}.0"
        checked += [(*pair, trained) for pair in _strings(path, regexes)]
    for path, regex, names in checked:
        if not _matching([regex], names):
            yield _unmatched(path, regex, names)


def _strings(path: str, value: Any) -> list[tuple[str, str]]:
    return [(below(path, place), one) for place, one in items(value) if isinstance(one, str)]


def _matching(regexes: Iterable[str], names: Iterable[str]) -> set[str]:
    return {name for regex in regexes for name in names if re.search(regex, name)}


def _unmatched(path: str, regex: str, names: Iterable[str]) -> Problem:
    plain = re.sub(r"[\\^$.*+?()\[\]|]+", ".", regex).strip(".")
    expected = "a regex that matches a parameter of the model"
    return Problem(path=path, expected=expected, got=shown(regex), nearest=nearest(plain, names), kind="regex")
