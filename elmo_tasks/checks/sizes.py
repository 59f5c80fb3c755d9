"""Widths that do not fit: which part of the config gives one, and which wants another."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from elmo_tasks.checks.problem import Problem, below
from elmo_tasks.checks.record import Record

IN_KEYS = ("input_size", "input_dim", "embedding_dim")
OUT_KEYS = ("output_dim", "projection_dim", "embedding_dim", "hidden_size", "num_filters", "output_size")

TOLD_WIDTHS = (
    re.compile(r"but got (?P<given>\d+) and (?P<wanted>\d+) instead"),
    re.compile(r"was given the width (?P<wanted>\d+), the embeddings have (?P<given>\d+)"),
)
"""How AllenNLP's and our models tell two widths that differ."""


class DimensionMismatch(Exception):
    """A module got vectors of another width than it wants."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def told_misfit(message: str, record: Record, config: dict[str, Any]) -> Problem | None:
    """The problem that an error message tells, with the paths of both parts; `None` where it tells none."""
    found = next((match for pattern in TOLD_WIDTHS if (match := pattern.search(message))), None)
    if found is None:
        return None
    given, wanted = int(found["given"]), int(found["wanted"])
    modules = record.modules()
    readers = [path for path, one in modules if width(one, "get_input_dim") == wanted]
    return _problem(readers[-1], wanted, _writers(modules, given), given, config) if readers else None


def _writers(modules: list[tuple[str, nn.Module]], given: int) -> list[str]:
    """The part of this width, or the parts of one owner that have it together."""
    exact = [path for path, one in modules if width(one, "get_output_dim") == given]
    if exact:
        return exact[-1:]
    beside = [(path, width(one, "get_output_dim")) for path, one in modules if path.count(".") == 1]
    parts = [
        (path, size)
        for path, size in beside
        if size is not None and path.split(".")[1] in ("text_field_embedder", "elmo")
    ]
    return [path for path, _ in parts] if sum(size for _, size in parts) == given else []


@contextmanager
def watched(record: Record, config: dict[str, Any]) -> Iterator[list[str]]:
    """
    Looks at the widths between the modules that the config made, while the model runs.

    # Returns

    `list[str]`: the paths of the modules that are running, the innermost last.

    # Raises

    `DimensionMismatch` where a module gets another width than it wants.
    """
    running: list[str] = []
    written: list[tuple[str, int]] = []
    handles = []
    for path, module in record.modules():
        handles.append(module.register_forward_pre_hook(_before(path, running, written, config)))
        handles.append(module.register_forward_hook(_after(path, running, written)))
    try:
        yield running
    finally:
        for handle in handles:
            handle.remove()


def _before(
    path: str, running: list[str], written: list[tuple[str, int]], config: dict[str, Any]
) -> Callable[..., None]:
    def hook(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        running.append(path)
        wanted = width(module, "get_input_dim")
        first = inputs[0] if inputs else None
        if wanted is None or not isinstance(first, Tensor) or not first.is_floating_point() or first.dim() < 2:
            return
        given = first.shape[-1]
        if given != wanted:
            writers = [other for other, size in written if size == given][-1:]
            raise DimensionMismatch(_problem(path, wanted, writers, given, config))

    return hook


def _after(path: str, running: list[str], written: list[tuple[str, int]]) -> Callable[..., None]:
    def hook(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        running.pop()
        if isinstance(output, Tensor) and output.dim() > 1:
            written.append((path, output.shape[-1]))

    return hook


def width(module: nn.Module, method: str) -> int | None:
    """What `get_input_dim` or `get_output_dim` says; `None` where there is none."""
    if not hasattr(module, method):
        return None
    try:
        told = getattr(module, method)()
    except Exception:
        return None
    return told if isinstance(told, int) else None


def _problem(reader: str, wanted: int, writers: list[str], given: int, config: dict[str, Any]) -> Problem:
    path = _with_key(reader, wanted, IN_KEYS, config)
    source = " and ".join(_with_key(writer, given, OUT_KEYS, config) for writer in writers) or "what it reads"
    together = " together" if len(writers) > 1 else ""
    return Problem(path=path, wanted=f"{given}, the width of {source}{together}", found=str(wanted), kind="size")


def _with_key(path: str, size: int, keys: tuple[str, ...], config: Any) -> str:
    """The path of the key that sets this size, where one does."""
    for part in path.split("."):
        if isinstance(config, list) and part.isdigit():
            config = config[int(part)]
        else:
            config = config.get(part) if isinstance(config, dict) else None
    if isinstance(config, dict):
        for key in keys:
            if config.get(key) == size:
                return below(path, key)
    return path
