"""Regexes of a config that match no parameter of the model it builds."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from allennlp.nn import RegularizerApplicator
from torch import nn

from elmo_tasks.checks.problem import Problem, below, nearest, shown
from elmo_tasks.checks.record import Record

WANTED = "a regex that matches a parameter of the model"


def invalid_regexes(config: dict[str, Any]) -> Iterator[Problem]:
    """The regexes of a config that are none, wherever AllenNLP reads one."""
    for path, regex in _regexes("", config):
        try:
            re.compile(regex)
        except re.error as error:
            yield Problem(path=path, wanted="a regex", found=f"{shown(regex)}: {error}", kind="regex")


def _regexes(path: str, value: Any) -> Iterator[tuple[str, str]]:
    for key, part in value.items() if isinstance(value, dict) else ():
        here = below(path, key)
        entries = list(enumerate(part)) if isinstance(part, list) else []
        if key in ("prevent_regexes", "no_grad"):
            yield from ((below(here, place), entry) for place, entry in entries if isinstance(entry, str))
        elif key in ("regexes", "parameter_groups"):
            for place, entry in entries:
                first = entry[0] if isinstance(entry, list) and entry else None
                if isinstance(first, str):
                    yield f"{here}.{place}.0", first
                yield from ((f"{here}.{place}.0.{which}", regex) for which, regex in enumerate(_strings(first)))
        else:
            yield from _regexes(here, part)


def regex_problems(config: dict[str, Any], model: nn.Module, record: Record) -> Iterator[Problem]:
    """
    # Parameters

    config : `dict[str, Any]`
        Resolved.
    model : `nn.Module`
        What the config built, after a step.
    record : `Record`
        Of the building and of the step.
    """
    seen: set[int] = set()
    for applicator, _ in record.applied:
        path = record.path_of(applicator)
        if path is not None and id(applicator) not in seen:
            seen.add(id(applicator))
            modules = [module for other, module in record.applied if other is applicator]
            yield from _of_applicator(path, applicator, modules)
    yield from _of_trainer(config, model)


def _of_applicator(path: str, applicator: Any, modules: list[nn.Module]) -> Iterator[Problem]:
    """Each parameter belongs to the first regex that matches it."""
    penalises = isinstance(applicator, RegularizerApplicator)
    pairs = applicator._regularizers if penalises else applicator._initializers
    prevented = None if penalises else applicator._prevent_regex
    every = [
        name for module in modules for name, one in module.named_parameters() if one.requires_grad or not penalises
    ]
    names = [name for name in every if prevented is None or not re.search(prevented, name)]
    taken: set[str] = set()
    for place, (regex, _) in enumerate(pairs):
        matched = {name for name in names if re.search(regex, name)}
        if not matched:
            yield _problem(below(path, f"regexes.{place}.0"), regex, names)
        elif matched <= taken:
            wanted = "a regex that matches a parameter which no regex before it takes"
            yield Problem(path=below(path, f"regexes.{place}.0"), wanted=wanted, found=shown(regex), kind="regex")
        taken |= matched


def _of_trainer(config: dict[str, Any], model: nn.Module) -> Iterator[Problem]:
    trainer = config.get("trainer")
    trainer = trainer if isinstance(trainer, dict) else {}
    names = [name for name, _ in model.named_parameters()]
    frozen = _strings(trainer.get("no_grad"))
    for place, regex in enumerate(frozen):
        if not _matching([regex], names):
            yield _problem(f"trainer.no_grad.{place}", regex, names)
    optimizer = trainer.get("optimizer")
    groups = optimizer.get("parameter_groups") if isinstance(optimizer, dict) else None
    pairs = [(place, *group) for place, group in enumerate(groups or ()) if isinstance(group, list) and len(group) == 2]
    switched_off = _matching([regex for _, regexes, options in pairs if _is_off(options) for regex in regexes], names)
    trained = {name for name, one in model.named_parameters() if one.requires_grad} | switched_off
    for place, regexes, _ in pairs:
        for which, regex in enumerate(_strings(regexes)):
            if not _matching([regex], trained):
                yield _problem(f"trainer.optimizer.parameter_groups.{place}.0.{which}", regex, trained)


def _is_off(options: Any) -> bool:
    return isinstance(options, dict) and options.get("requires_grad") is False


def _strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _matching(regexes: Iterable[str], names: Iterable[str]) -> set[str]:
    listed = list(regexes)
    return {name for name in names if any(re.search(regex, name) for regex in listed)}


def _problem(path: str, regex: str, names: Iterable[str]) -> Problem:
    plain = re.sub(r"[\\^$.*+?()\[\]|]+", ".", regex).strip(".")
    return Problem(path=path, wanted=WANTED, found=shown(regex), nearest=nearest(plain, names), kind="regex")
