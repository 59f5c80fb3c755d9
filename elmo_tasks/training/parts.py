"""
Parts of a config: what constructs one, and what its errors say; and the rule of how
a config's keys reach constructors, where it is not AllenNLP's.

AllenNLP gives each key of an object to the constructor's argument of that name. So the
parts of a task model's input encoder would stand one level deeper than users think of
them, under `model.input_encoder`. A class can say that an argument is inlined:

    class TaskModel(Inlining, Model):
        inlined = {"input_encoder": InputEncoder}

Then the config has no key `input_encoder`. The keys that `InputEncoder` names stand
among those of the model, and make its input encoder before the model's other arguments.
All defaults are those of the constructors.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import Parameter, signature
from typing import Any, ClassVar

from allennlp.common import Params
from allennlp.common.from_params import create_kwargs

from elmo_tasks.errors import InputError, in_one_line, shown


def params_of(config: Mapping[str, Any], key: str) -> Params:
    """A copy of the part of a config under a key. Raises `InputError` unless it is an object."""
    part = config.get(key)
    if isinstance(part, str) and part:
        part = {"type": part}
    if not isinstance(part, Mapping):
        raise InputError(
            f"expected an object, or the name of a class, got {shown(part)}"
        )
    return Params({key: copy.deepcopy(part)}).pop(key)


@contextmanager
def constructing(
    key: str, doing: str = "", *, data: str | None = None
) -> Iterator[None]:
    """
    Replaces any error by an `InputError` of one line, which begins with the key of the
    part that is constructed. One in the file `data`, which no key names, stays.
    """
    try:
        yield
    except Exception as error:
        if data is not None and isinstance(error, InputError) and error.file == data:
            raise
        line = in_one_line(error)
        if line.startswith(f"{key}."):  # it names a key itself
            raise InputError(line) from error
        where = f"{key} ({doing})" if doing else key
        raise InputError(f"{where}: {line}") from error


Inlined = Mapping[str, Callable[..., Any]]
"""
For each inlined argument of a class what makes its value, from keys of the config.
"""


class Inlining:
    """Base class of classes with inlined arguments."""

    inlined: ClassVar[Inlined]


def with_inlined(
    parameters: Mapping[str, Parameter], inlined: Inlined
) -> dict[str, Parameter]:
    """The arguments of a constructor that a config can set, by its keys."""
    found = dict(parameters)
    for argument, construct in inlined.items():
        del found[argument]
        found.update(signature(construct).parameters)
    return found


def construct_inlined(
    inlined: Inlined, params: Params, extras: Mapping[str, Any]
) -> dict[str, Any]:
    """
    The values of inlined arguments. Takes their keys out of the config of an object;
    `extras` are the values that AllenNLP passes to all of its parts.
    """
    found = {}
    for argument, construct in inlined.items():
        keys = [key for key in signature(construct).parameters if key in params]
        own = Params({key: params.params.pop(key) for key in keys}, params.history)
        arguments = create_kwargs(construct.__init__, construct, own, **extras)
        found[argument] = construct(**arguments)
    return found
