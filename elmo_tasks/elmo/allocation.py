"""Bounds the parameters of a model that is built from a config of unknown origin."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_parameter_registration_hook,
)

from elmo_tasks.errors import InputError


class TooLarge(InputError):
    """A config describes more parameters than allowed."""


@dataclass
class _Left:
    """How many bytes and tensors the modules that are being built may still have."""

    size: int
    count: int


_LEFT: ContextVar[_Left | None] = ContextVar("parameters left", default=None)


@contextmanager
def parameters_of_at_most(size: int, count: int) -> Iterator[None]:
    """
    Inside, the modules that this thread builds may have at most `count` parameters and
    buffers, of at most `size` bytes together. Raises `TooLarge` at the first one
    beyond, before it has values: until then, the system gives it no memory.
    """
    left = _Left(size, count)

    def take(module: Any, name: str, value: Any) -> None:
        if _LEFT.get() is not left or value is None or value.device.type == "meta":
            return
        left.size -= value.nbytes
        left.count -= 1
        if left.size < 0 or left.count < 0:
            problem = "the config describes a larger model than the weights contain"
            raise TooLarge(f"{problem}, at the parameter {name!r:.100}")

    token = _LEFT.set(left)
    try:
        with (
            register_module_parameter_registration_hook(take),
            register_module_buffer_registration_hook(take),
        ):
            yield
    finally:
        _LEFT.reset(token)


@contextmanager
def not_counted() -> Iterator[None]:
    """
    A context in which parameters do not count: for a frozen source of layers, which is
    compared with its own files.
    """
    token = _LEFT.set(None)
    try:
        yield
    finally:
        _LEFT.reset(token)
