"""
Regexes of a config that match no parameter of its model: of a `regularizer`, an `initializer`, `trainer.no_grad` and an
optimizer's `parameter_groups`. AllenNLP goes on without what they were to change.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from torch import nn

from elmo_tasks.training.checks.problem import Problem, below, get, items, shown

PARAMETER = "a regex that matches a parameter"
TRAINED = "a regex that matches a parameter that is trained"

NAMES_SHOWN = 3

OF_ALLENNLP = {"scalar_parameters": "mix.weights", "scalar_mix": "input_mix"}
"""Names in AllenNLP's `Elmo`, and those of the same parameters here."""


class Use(NamedTuple):
    """A regex in a config."""

    path: str
    regex: str
    expected: str  # `PARAMETER` or `TRAINED`
    excluded: tuple[str, ...] = ()  # regexes of parameters that do not count
    nested: bool = False  # of a part of the model, whose names begin there


def uses_of(config: Mapping[str, Any]) -> list[Use]:
    """All regexes of a config that are to match parameters."""
    found = [*_of_model("model", config.get("model"), nested=False)]
    frozen = _strings(get(config, "trainer.no_grad"))
    found += [
        Use(f"trainer.no_grad.{number}", regex, PARAMETER)
        for number, regex in enumerate(frozen)
    ]
    path = "trainer.optimizer.parameter_groups"
    for number, group in items(get(config, path)):
        if isinstance(group, list | tuple) and group:
            for place, regex in enumerate(_strings(group[0])):
                found.append(Use(f"{path}.{number}.0.{place}", regex, TRAINED))
    return found


def _of_model(path: str, value: Any, *, nested: bool) -> Iterator[Use]:
    """Those of the applicators in a part of the config."""
    for key, part in items(value):
        here = below(path, key)
        if key in ("regularizer", "initializer") and isinstance(part, dict):
            is_penalty = key == "regularizer"
            excluded = tuple(_strings(part.get("prevent_regexes")))
            for number, pair in items(part.get("regexes")):
                if isinstance(pair, list | tuple) and pair and isinstance(pair[0], str):
                    yield Use(
                        f"{here}.regexes.{number}",
                        pair[0],
                        TRAINED if is_penalty else PARAMETER,
                        excluded,
                        nested,
                    )
        else:
            yield from _of_model(here, part, nested=True)


def _strings(value: Any) -> list[str]:
    parts = value if isinstance(value, list | tuple) else []
    return [part for part in parts if isinstance(part, str)]


def invalid_regexes(config: Mapping[str, Any]) -> list[Problem]:
    """What Python cannot read among the regexes of a config."""
    problems = []
    for use in uses_of(config):
        for regex in (use.regex, *use.excluded):
            try:
                re.compile(regex)
            except re.error as error:
                got = f"{shown(regex)} ({error})"
                problems.append(Problem(use.path, "a regular expression", got))
    return problems


def regex_problems(config: Mapping[str, Any], model: nn.Module) -> list[Problem]:
    """
    The regexes of a config that match no parameter of the model that was constructed from it; if some are invalid,
    these alone.
    """
    problems = invalid_regexes(config)
    if problems:
        return problems
    frozen = _strings(get(config, "trainer.no_grad"))
    taken: dict[str, set[str]] = {}
    for use in uses_of(config):
        names = [
            name
            for name in _names(model, use, frozen)
            if not any(re.search(regex, name) for regex in use.excluded)
        ]
        found = {name for name in names if re.search(use.regex, name)}
        if found and ".regexes." in use.path:  # AllenNLP applies the first that matches
            before = taken.setdefault(use.path.rpartition(".")[0], set())
            if found <= before:
                got = f"{shown(use.regex)}, whose parameters earlier regexes match"
                problems.append(Problem(use.path, use.expected, got))
            before |= found
        if not found:
            near = ", ".join(nearest_names(use.regex, names)) or "the model has none"
            got = f"{shown(use.regex)}; nearest: {near}"
            problems.append(Problem(use.path, use.expected, got))
    return problems


def _names(model: nn.Module, use: Use, frozen: Sequence[str]) -> list[str]:
    """The names of the parameters that a regex may match."""
    whole = dict(model.named_parameters())
    if use.expected == TRAINED:
        whole = {
            name: parameter
            for name, parameter in whole.items()
            if parameter.requires_grad
            and not any(re.search(regex, name) for regex in frozen)
        }
    if not use.nested:
        return list(whole)
    parts = [name.split(".") for name in whole]
    return [".".join(part[start:]) for part in parts for start in range(len(part))]


def nearest_names(regex: str, names: Sequence[str]) -> list[str]:
    """The names of parameters most similar to a regex, also to those of AllenNLP's `Elmo`."""
    for theirs, ours in OF_ALLENNLP.items():
        regex = regex.replace(theirs, ours)
    plain = ".".join(re.findall(r"\w+", regex))
    similarity = {name: _similarity(plain, name) for name in names}
    ordered = sorted(similarity, key=lambda name: -similarity[name])
    return ordered[:NAMES_SHOWN]


def _similarity(plain: str, name: str) -> float:
    """Of the most similar end of the name that begins with a whole part."""
    parts = name.split(".")
    ends = [".".join(parts[start:]) for start in range(len(parts))]
    return max(difflib.SequenceMatcher(None, plain, end).ratio() for end in ends)
