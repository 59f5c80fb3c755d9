"""A value of a config beside the annotation of the argument that it becomes, read as AllenNLP reads annotations."""

import collections.abc
import types
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from allennlp.common import Lazy, from_params

from elmo_tasks.checks.problem import Problem, below, listed, shown
from elmo_tasks.checks.ranges import range_problems
from elmo_tasks.checks.signatures import Choice, lazy_extras

NONE = type(None)
MAPPINGS = (dict, collections.abc.Mapping)
LISTS = (list, set, collections.abc.Iterable)

SCALARS = {
    int: ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    bool: ("true or false", lambda value: isinstance(value, bool) or (isinstance(value, int) and value in (0, 1))),
    str: ("a string", lambda value: isinstance(value, str)),
    float: ("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
}
"""AllenNLP's rules, but for `true` as a number, which it takes for 1."""


Supplied = frozenset[str] | None
"""Arguments that code gives besides the config; `None` where they are not known."""


class Context(NamedTuple):
    """
    # Parameters

    construct : `Callable`
        Gives the problems of a part of the config that constructs a class: path, value, class, what is supplied.
    supplied, lazy : `Supplied`
        For what is constructed at once, and for what code constructs later.
    """

    construct: Callable[[str, Any, Any, Supplied], Iterator[Problem]]
    supplied: Supplied
    lazy: Supplied


def value_problems(path: str, value: Any, parameter: Parameter, choice: Choice, context: Context) -> Iterator[Problem]:
    """The problems of the value that a config gives an argument of what it constructs."""
    annotation = parameter.annotation
    found: list[Problem] = []
    if choice.is_plain or annotation is Parameter.empty or isinstance(annotation, str):
        pass  # AllenNLP hands on whatever comes
    elif value is None:
        if _refuses_null(parameter, choice):
            yield Problem(path=path, wanted=_described(annotation), found="null", kind="type")
    elif not (isinstance(value, dict) and "_pretrained" in value):
        extras = lazy_extras(choice.constructor, parameter.name)
        lazy = None if context.supplied is None or extras is None else context.supplied | extras
        found = list(_problems(path, value, annotation, context._replace(lazy=lazy)))
    yield from found
    told = {problem.path for problem in found}
    yield from (problem for problem in _ranges(path, value) if problem.path not in told)


def _ranges(path: str, value: Any) -> Iterator[Problem]:
    """Those of a number, or of the numbers of a list."""
    if isinstance(value, list):
        for place, part in enumerate(value):
            yield from range_problems(below(path, place), part)
    else:
        yield from range_problems(path, value)


def _refuses_null(parameter: Parameter, choice: "Choice") -> bool:
    """Of others only what must be there: they annotate less strictly than they read."""
    if parameter.default is None or NONE in _alternatives(parameter.annotation):
        return False
    constructed = _is_lazy(parameter.annotation) or hasattr(parameter.annotation, "from_params")
    simple = parameter.annotation in SCALARS or get_origin(parameter.annotation) is not None
    counted = parameter.annotation in (int, float) and str(choice.cls.__module__).startswith("allennlp.training.")
    return constructed or counted or (simple and (choice.is_ours or parameter.default is Parameter.empty))


def _problems(path: str, value: Any, annotation: Any, context: Context) -> Iterator[Problem]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if hasattr(annotation, "from_params"):
        yield from context.construct(path, value, annotation, context.supplied)
    elif annotation in SCALARS:
        wanted, fits = SCALARS[annotation]
        if not fits(value):
            yield Problem(path=path, wanted=wanted, found=shown(value), kind="type")
    elif origin is Lazy:
        if hasattr(arguments[0], "from_params"):
            yield from context.construct(path, value, arguments[0], context.lazy)
    elif origin is Literal:
        if value not in arguments:
            yield Problem(path=path, wanted=f"one of {listed(map(shown, arguments))}", found=shown(value), kind="value")
    elif _is_union(annotation):
        yield from _of_union(path, value, annotation, context)
    elif not _is_opaque(annotation):
        yield from _of_parts(path, value, annotation, context)


def _of_parts(path: str, value: Any, annotation: Any, context: Context) -> Iterator[Problem]:
    """Those of an object, a list or a tuple whose parts AllenNLP constructs."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    fits = isinstance(value, dict if origin in MAPPINGS else list)
    if not fits or (origin is tuple and len(value) != len(arguments)):
        yield Problem(path=path, wanted=_described(annotation), found=shown(value), kind="type")
        return
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        kind = arguments[key] if origin is tuple else arguments[-1]
        yield from _problems(below(path, key), part, kind, context)


def _of_union(path: str, value: Any, annotation: Any, context: Context) -> Iterator[Problem]:
    """None where one of the types fits; otherwise those of the type that comes nearest."""
    tried = []
    for alternative in (one for one in _alternatives(annotation) if one is not NONE):
        found = [] if _is_opaque(alternative) else list(_problems(path, value, alternative, context))
        if not found:
            return
        tried.append(found)
    inside = [found for found in tried if any(problem.path != path for problem in found)]
    if len(inside) == 1 or len(tried) == 1:
        yield from (inside or tried)[0]
    else:
        yield Problem(path=path, wanted=_described(annotation), found=shown(value), kind="type")


def _constructs(annotation: Any) -> bool:
    return bool(from_params.can_construct_from_params(annotation))


def _is_lazy(annotation: Any) -> bool:
    return any(get_origin(alternative) is Lazy for alternative in _alternatives(annotation))


def _is_opaque(annotation: Any) -> bool:
    """Whether AllenNLP hands on whatever comes, since it cannot construct it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if (
        hasattr(annotation, "from_params")
        or annotation in SCALARS
        or origin in (Lazy, Literal)
        or _is_union(annotation)
    ):
        return False
    if origin in MAPPINGS:
        return len(arguments) != 2 or not _constructs(arguments[-1])
    return origin not in (tuple, *LISTS) or not arguments or not all(map(_constructs, arguments))


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, types.UnionType)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if _is_union(annotation) else (annotation,)


def _described(annotation: Any) -> str:
    """A type in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in SCALARS:
        return SCALARS[annotation][0]
    if annotation is NONE:
        return "null"
    if _is_union(annotation):
        *others, last = [_described(alternative) for alternative in arguments]
        return f"{', '.join(others)} or {last}" if others else last
    if origin is Lazy:
        return _described(arguments[0])
    if origin in MAPPINGS:
        return "an object"
    if origin is tuple:
        return f"a list of {len(arguments)}"
    if origin in LISTS:
        return f"a list, each part {_described(arguments[0])}"
    name = getattr(annotation, "__name__", str(annotation))
    return f"an object ({name})" if hasattr(annotation, "from_params") else name
