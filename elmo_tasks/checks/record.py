"""Which part of a config became which object, while AllenNLP constructs them."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from allennlp.common import FromParams, Params
from allennlp.nn import InitializerApplicator, RegularizerApplicator
from torch import nn

from elmo_tasks.checks.problem import below
from elmo_tasks.checks.signatures import keys_of

PATH = "config_path"
"""Errors carry the path of what was being constructed under this name."""


class Record:
    """
    # Parameters

    objects : `list[tuple[str, Any]]`
        Path and object, in the order in which they were made.
    applied : `list[tuple[Any, nn.Module]]`
        Initialisers and regularisers, and what they were applied to.
    plain : `dict[str, tuple[str, str]]`
        The paths of objects in the config that AllenNLP passes as dictionaries, since the argument has no annotation
        that it reads: the name of the class, and the argument.
    """

    def __init__(self) -> None:
        self.objects: list[tuple[str, Any]] = []
        self.plain: dict[str, tuple[str, str]] = {}
        self.applied: list[tuple[Any, nn.Module]] = []
        self._open: list[str] = [""]

    def modules(self) -> list[tuple[str, nn.Module]]:
        """Path and module, each module once."""
        seen: dict[int, tuple[str, nn.Module]] = {}
        for path, one in self.objects:
            if isinstance(one, nn.Module):
                seen.setdefault(id(one), (path, one))
        return list(seen.values())

    def path_of(self, one: Any) -> str | None:
        """Where the config made it."""
        return next((path for path, other in self.objects if other is one), None)

    def begin(self, cls: Any, params: Any, constructor: Callable[..., Any] | None) -> str:
        """The path of what is being constructed; a plain name in the config has that of its owner."""
        history = params.history if isinstance(params, Params) else ""
        self._open.append(history.rstrip(".") or self._open[-1])
        if isinstance(params, Params):
            self._note_plain(cls, params.params, constructor or cls.__init__)
        return self._open[-1]

    def _note_plain(self, cls: Any, config: dict[str, Any], constructor: Callable[..., Any]) -> None:
        for name, parameter in keys_of(cls, constructor).parameters.items():
            is_read = parameter.annotation is not parameter.empty and not isinstance(parameter.annotation, str)
            if not is_read and _has_objects(config.get(name)):
                self.plain[below(self._open[-1], name)] = (cls.__name__, name)

    def end(self) -> None:
        """It is made, or has failed."""
        self._open.pop()


def _has_objects(value: Any) -> bool:
    return any(isinstance(part, dict | Params) for part in (value if isinstance(value, list) else [value]))


@contextmanager
def recorded() -> Iterator[Record]:
    """Keeps a record of what AllenNLP constructs inside the block; as it was, afterwards."""
    record = Record()
    before = vars(FromParams)["from_params"]
    applicators = (InitializerApplicator, RegularizerApplicator)
    calls = [applicator.__call__ for applicator in applicators]
    FromParams.from_params = classmethod(_recording(before.__func__, record))
    for applicator, call in zip(applicators, calls, strict=True):
        applicator.__call__ = _noting(call, record)
    try:
        yield record
    finally:
        FromParams.from_params = before
        for applicator, call in zip(applicators, calls, strict=True):
            applicator.__call__ = call


def _recording(original: Any, record: Record) -> Any:
    @functools.wraps(original)
    def from_params(cls: Any, params: Any, *arguments: Any, **options: Any) -> Any:
        path = record.begin(cls, params, options.get("constructor_to_inspect"))
        try:
            made = original(cls, params, *arguments, **options)
        except Exception as error:
            vars(error).setdefault(PATH, path)
            raise
        finally:
            record.end()
        record.objects.append((path, made))
        return made

    return from_params


def _noting(original: Any, record: Record) -> Any:
    @functools.wraps(original)
    def call(applicator: Any, module: nn.Module) -> Any:
        record.applied.append((applicator, module))
        return original(applicator, module)

    return call
