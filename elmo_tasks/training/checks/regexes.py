"""
Regexes of a config that match no parameter of its model: of a `regularizer`, an
`initializer`, `trainer.no_grad` and an optimizer's `parameter_groups`. AllenNLP goes on
without what they were to change.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from torch import nn

from elmo_tasks.training.checks.problem import Problem, shown
from elmo_tasks.training.nested import below, get, items

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
    uses = list(_of_model("model", config.get("model"), nested=False))
    frozen = _strings(get(config, "trainer.no_grad"))
    for number, regex in enumerate(frozen):
        uses.append(Use(f"trainer.no_grad.{number}", regex, PARAMETER))
    path = "trainer.optimizer.parameter_groups"
    for number, group in items(get(config, path)):
        if isinstance(group, list | tuple) and group:
            for index, regex in enumerate(_strings(group[0])):
                uses.append(Use(f"{path}.{number}.0.{index}", regex, TRAINED))
    return uses


def _of_model(path: str, value: Any, *, nested: bool) -> Iterator[Use]:
    """Those of the applicators in a part of the config."""
    for key, part in items(value):
        here = below(path, key)
        if key == "regularizer" and isinstance(part, dict):
            yield from _of_applicator(here, part, TRAINED, nested=nested)
        elif key == "initializer" and isinstance(part, dict):
            yield from _of_applicator(here, part, PARAMETER, nested=nested)
        else:
            yield from _of_model(here, part, nested=True)


def _of_applicator(
    path: str, options: Mapping[str, Any], expected: str, *, nested: bool
) -> Iterator[Use]:
    """Those of the pairs of a regex and what is applied to its parameters."""
    excluded = tuple(_strings(options.get("prevent_regexes")))
    for number, pair in items(options.get("regexes")):
        if isinstance(pair, list | tuple) and pair and isinstance(pair[0], str):
            key = f"{path}.regexes.{number}"
            yield Use(key, pair[0], expected, excluded, nested)


def _strings(value: Any) -> list[str]:
    """The strings of a list; none of another value."""
    if not isinstance(value, list | tuple):
        return []
    return [part for part in value if isinstance(part, str)]


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
    The regexes of a config that match no parameter of the model that was constructed
    from it; if some are invalid, these alone.
    """
    problems = invalid_regexes(config)
    if problems:
        return problems
    frozen = _strings(get(config, "trainer.no_grad"))
    taken: dict[str, set[str]] = {}
    for use in uses_of(config):
        names = _names(model, use, frozen)
        names = [name for name in names if not _matches_any(use.excluded, name)]
        matching = {name for name in names if re.search(use.regex, name)}
        if (
            matching and ".regexes." in use.path
        ):  # AllenNLP applies the first that matches
            before = taken.setdefault(use.path.rpartition(".")[0], set())
            if matching <= before:
                got = f"{shown(use.regex)}, whose parameters earlier regexes match"
                problems.append(Problem(use.path, use.expected, got))
            before |= matching
        if not matching:
            near = ", ".join(nearest_names(use.regex, names))
            got = f"{shown(use.regex)}; the model has no parameters"
            if near:
                got = f"{shown(use.regex)}; nearest: {near}"
            problems.append(Problem(use.path, use.expected, got))
    return problems


def _names(model: nn.Module, use: Use, frozen: Sequence[str]) -> list[str]:
    """
    The names of the parameters that a regex may match; of a part of the model, all ends
    of these names.
    """
    found = []
    for name, parameter in model.named_parameters():
        is_trained = parameter.requires_grad and not _matches_any(frozen, name)
        if use.expected == TRAINED and not is_trained:
            continue
        if use.nested:
            found += _ends(name)
        else:
            found.append(name)
    return found


def _matches_any(regexes: Iterable[str], name: str) -> bool:
    return any(re.search(regex, name) for regex in regexes)


def _ends(name: str) -> list[str]:
    """The ends of a name that begin with a whole part, the longest first."""
    parts = name.split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


def nearest_names(regex: str, names: Sequence[str]) -> list[str]:
    """
    The names of parameters most similar to a regex, also to those of AllenNLP's `Elmo`.
    """
    for theirs, ours in OF_ALLENNLP.items():
        regex = regex.replace(theirs, ours)
    plain = ".".join(re.findall(r"\w+", regex))
    similarity = {name: _similarity(plain, name) for name in names}
    ordered = sorted(similarity, key=similarity.__getitem__, reverse=True)
    return ordered[:NAMES_SHOWN]


def _similarity(plain: str, name: str) -> float:
    """That of the most similar end of the name."""
    found = []
    for end in _ends(name):
        found.append(difflib.SequenceMatcher(None, plain, end).ratio())
    return max(found)
