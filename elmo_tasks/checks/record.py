"""Records which part of a config became which object while AllenNLP constructs them."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allennlp.common import FromParams, Params
from allennlp.nn import InitializerApplicator, RegularizerApplicator
from torch import nn

PATH = "config_path"
"""An error has the path of the object under construction in this attribute."""


class Record:
    """The objects of a config."""

    def __init__(self) -> None:
        self.objects: list[tuple[str, Any]] = []  # path and object, in the order of construction
        self.applied: list[tuple[Any, nn.Module]] = []  # initializers and regularizers, with their modules
        self.open_paths: list[str] = [""]

    def modules(self) -> list[tuple[str, nn.Module]]:
        """Path and module, each module once."""
        modules: dict[int, tuple[str, nn.Module]] = {}
        for path, one in self.objects:
            if isinstance(one, nn.Module):
                modules.setdefault(id(one), (path, one))
        return list(modules.values())

    def path_of(self, one: Any) -> str | None:
        """The path of an object."""
        return next((path for path, other in self.objects if other is one), None)


@contextmanager
def recorded() -> Iterator[Record]:
    """Records what AllenNLP constructs within the context."""
    record = Record()
    patches: dict[tuple[type, str], Any] = {
        (FromParams, "from_params"): classmethod(_recording(vars(FromParams)["from_params"].__func__, record)),
        (InitializerApplicator, "__call__"): _noting(InitializerApplicator.__call__, record),
        (RegularizerApplicator, "__call__"): _noting(RegularizerApplicator.__call__, record),
    }
    originals = {(cls, name): vars(cls)[name] for cls, name in patches}
    try:
        for (cls, name), patch in patches.items():
            setattr(cls, name, patch)
        yield record
    finally:
        for (cls, name), original in originals.items():
            setattr(cls, name, original)


def _recording(original: Any, record: Record) -> Any:
    @functools.wraps(original)
    def from_params(cls: Any, params: Any, *arguments: Any, **options: Any) -> Any:
        history = params.history if isinstance(params, Params) else ""
        path = history.rstrip(".") or record.open_paths[-1]  # a plain name in the config has the path of its owner
        record.open_paths.append(path)
        try:
            made = original(cls, params, *arguments, **options)
        except Exception as error:
            vars(error).setdefault(PATH, path)
            raise
        finally:
            record.open_paths.pop()
        record.objects.append((path, made))
        return made

    return from_params


def _noting(original: Any, record: Record) -> Any:
    @functools.wraps(original)
    def call(applicator: Any, module: nn.Module) -> Any:
        record.applied.append((applicator, module))
        return original(applicator, module)

    return call
