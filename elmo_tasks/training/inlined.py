"""
The rule of how a config's keys reach constructors, where it is not AllenNLP's.

AllenNLP gives each key of an object to the constructor's argument of that name. So the
parts of a task model's input encoder would stand one level deeper than users think of
them, under `model.input_encoder`. A class can say that an argument is inlined:

    class TaskModel(Inlining, Model):
        inlined = {"input_encoder": InputEncoder}

Then the config has no key `input_encoder`. The keys that `InputEncoder` names stand
among those of the model, and make its input encoder before the model's other arguments.
All defaults are those of the constructors.
"""

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, ClassVar

from allennlp.common import Params
from allennlp.common.from_params import create_kwargs

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
