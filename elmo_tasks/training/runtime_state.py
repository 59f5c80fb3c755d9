"""
State for a checkpoint, as plain data: random number generators, and what a model keeps between batches outside its
state dict (counts of metrics, carried states).
"""

import random
from collections.abc import Iterator
from typing import Any

import numpy
import torch
from allennlp.training.metrics import Metric

from elmo_tasks.training.checks.problem import items, mapped

SCALARS = (bool, int, float, str, type(None), numpy.generic)


def random_state() -> dict[str, Any]:
    """The state of the global generators of Python, NumPy and PyTorch, and of the GPUs in use."""
    return order_state() | {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [],
    }


def order_state() -> dict[str, Any]:
    """Of Python and NumPy only, which data loaders and readers use for the order of the data."""
    of_numpy: Any = numpy.random.get_state()
    name, keys, *rest = of_numpy
    return {"python": random.getstate(), "numpy": (name, keys.tolist(), *rest)}


def set_random_state(state: dict[str, Any]) -> None:
    """Restore a `random_state()` or `order_state()` of this or another process."""
    random.setstate(state["python"])
    numpy.random.set_state(state["numpy"])
    if "torch" in state:
        torch.set_rng_state(state["torch"])
        for device, of_device in enumerate(state["cuda"][: torch.cuda.device_count()]):
            torch.cuda.set_rng_state(of_device, device)


def save_runtime_state(model: torch.nn.Module) -> dict[str, Any]:
    """
    Plain data for a checkpoint: the plain attributes of each metric, and the carried states. Other attributes, such as
    a vocabulary, come from the config.
    """
    return {
        "metrics": {
            path: {
                name: _to_plain(value)
                for name, value in vars(metric).items()
                if _is_plain(value)
            }
            for path, metric in _metrics(model)
        },
        "carried": {path: module.carried_states() for path, module in _carrying(model)},
    }


def load_runtime_state(model: torch.nn.Module, saved: dict[str, Any]) -> None:
    """Restore what `save_runtime_state` returned for a model of the same config."""
    device = next(
        (parameter.device for parameter in model.parameters()), torch.device("cpu")
    )
    for path, metric in _metrics(model):
        for name, value in saved["metrics"].get(path, {}).items():
            setattr(metric, name, _restored(vars(metric).get(name), value, device))
    for path, module in _carrying(model):
        module.set_carried_states(saved["carried"][path])


def on_cpu(value: Any) -> Any:
    """Plain data with its tensors on the CPU."""
    return mapped(
        value, lambda part: part.cpu() if isinstance(part, torch.Tensor) else part
    )


def _metrics(model: torch.nn.Module) -> Iterator[tuple[str, Metric]]:
    """The metrics of all modules by path, also in lists, dictionaries and other metrics."""
    for owner, module in model.named_modules():
        yield from _metrics_of(owner, module)


def _metrics_of(path: str, owner: Any) -> Iterator[tuple[str, Metric]]:
    for attribute, value in vars(owner).items():
        parts = [(f"[{key}]", item) for key, item in items(value)]
        for key, item in [("", value), *parts]:
            if isinstance(item, Metric):
                yield f"{path}.{attribute}{key}", item
                yield from _metrics_of(f"{path}.{attribute}{key}", item)


def _carrying(model: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """Modules that carry states from one batch to the next, which `carried_states` gives as plain data."""
    return (
        (path, module)
        for path, module in model.named_modules()
        if hasattr(module, "carried_states")
    )


def _is_plain(value: Any) -> bool:
    """Whether `torch.load` can read it, after `_to_plain`, without running code."""
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(item) for key, item in value.items())
    if type(value) in (list, tuple, set):
        return all(map(_is_plain, value))
    return isinstance(value, (*SCALARS, torch.Tensor, numpy.ndarray))


def _to_plain(value: Any) -> Any:
    """Arrays as tensors, and dictionaries of any type as `dict`."""
    return mapped(
        value,
        lambda part: (
            torch.from_numpy(part.copy()) if isinstance(part, numpy.ndarray) else part
        ),
    )


def _restored(present: Any, saved: Any, device: torch.device) -> Any:
    """The saved value with the type and device of the present one."""
    if isinstance(present, numpy.ndarray):
        return saved.numpy()
    if isinstance(saved, torch.Tensor):
        return saved.to(present.device if isinstance(present, torch.Tensor) else device)
    if isinstance(present, dict) and type(present) is not dict:
        present.clear()
        present.update(saved)
        return present
    return saved
