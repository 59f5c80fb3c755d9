"""
What a config constructs, where somebody else wrote it: classes with registered names.

AllenNLP takes a name that is not registered and has a dot for the path of a class or a
function, which it imports and calls. It decides that in one place, for all that a config
constructs: `Registrable.resolve_class_name` looks the name up in the registry of the base
class, a dictionary, and imports what is not there. Inside `registered_alone` looking such
a name up is an error, so that no text needs to be judged by its shape.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.common import Registrable
from allennlp.common.params import parse_overrides

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Wrong
from elmo_tasks.system.run_names import CONFIG
from elmo_tasks.training.config import below, items, strings

UNSAFE_KEYS = {
    "_pretrained": "no module of another archive (from_archive tunes a whole model)",
    "trust_remote_code": "false: no archive with it is opened",
}
"""What is expected in their place."""


class _Opened(NamedTuple):
    """An archive that is open, and paths of classes that the user named."""

    file: str | Path | None
    allowed: Collection[str]


_OPENED: ContextVar[_Opened | None] = ContextVar("_OPENED", default=None)


class _Registry(dict[str, Any]):
    """The registered names of one base class."""

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        opened = _OPENED.get()
        is_path = isinstance(name, str) and "." in name
        if opened is not None and is_path and name not in opened.allowed:
            problem = f"the archive's {CONFIG} names code to run: {name!r}"
            hint = (
                "expected a registered name; --include-package registers more, and -o"
                " with the same name allows it"
            )
            raise InputError(problem, file=opened.file, hint=hint)
        return False


@contextmanager
def registered_alone(
    file: str | Path | None = None, allowed: Collection[str] = ()
) -> Iterator[None]:
    """
    Inside, AllenNLP raises `InputError` for a name that it would import, other than
    those `allowed`. The archive `file` has it.
    """
    registries: dict[type, Mapping[str, Any]] = Registrable._registry
    for base, names in list(registries.items()):
        if not isinstance(names, _Registry):
            registries[base] = _Registry(names)
    token = _OPENED.set(_Opened(file, allowed))
    try:
        yield
    finally:
        _OPENED.reset(token)


def unsafe_keys(config: Any, path: str = "") -> Iterator[Wrong]:
    """
    The keys of a config with which AllenNLP itself would open another archive, or
    transformers run the code of a model: no archive that has one is opened.
    """
    for key, value in items(config):
        here = below(path, key)
        if key in UNSAFE_KEYS and value:
            yield Wrong(here, UNSAFE_KEYS[key], value)
        else:
            yield from unsafe_keys(value, here)


def named_in(overrides: str) -> set[str]:
    """All texts in the overrides of a user, a Jsonnet object."""
    return {text for _, text in strings("", parse_overrides(overrides))}
