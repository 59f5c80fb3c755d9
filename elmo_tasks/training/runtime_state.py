"""
State for a checkpoint, as plain data: random number generators, and what a model keeps
between batches outside its state dict (counts of metrics, carried states).
"""

import random
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy
import torch
from allennlp.training.metrics import Metric

from elmo_tasks.training.nested import items, mapped

SCALARS = (bool, int, float, str, type(None), numpy.generic)
PLAIN = (*SCALARS, torch.Tensor, numpy.ndarray)


@runtime_checkable
class Carrying(Protocol):
    """A module that carries states from one batch to the next."""

    def carried_states(self) -> Any:
        """The states as plain data, for a checkpoint."""

    def set_carried_states(self, states: Any) -> None:
        """Restore what `carried_states` returned."""


def random_state() -> dict[str, Any]:
    """
    The state of the global generators of Python, NumPy and PyTorch, and of the GPUs in
    use.
    """
    of_gpus = []
    if torch.cuda.is_initialized():
        of_gpus = torch.cuda.get_rng_state_all()
    return order_state() | {"torch": torch.get_rng_state(), "cuda": of_gpus}


def order_state() -> dict[str, Any]:
    """
    Of Python and NumPy only, which data loaders and readers use for the order of the
    data.
    """
    of_numpy: Any = numpy.random.get_state()
    name, keys, *rest = of_numpy
    return {"python": random.getstate(), "numpy": (name, keys.tolist(), *rest)}


def set_random_state(state: dict[str, Any]) -> None:
    """Restore a `random_state()` or `order_state()` of this or another process."""
    random.setstate(state["python"])
    numpy.random.set_state(state["numpy"])
    if "torch" in state:
        torch.set_rng_state(state["torch"])
        of_gpus = state["cuda"][: torch.cuda.device_count()]
        for device, of_gpu in enumerate(of_gpus):
            torch.cuda.set_rng_state(of_gpu, device)


def save_runtime_state(model: torch.nn.Module) -> dict[str, Any]:
    """
    Plain data for a checkpoint: the plain attributes of each metric, and the carried
    states. Other attributes, such as a vocabulary, come from the config.
    """
    counts: dict[str, dict[str, Any]] = {}
    for path, metric in _metrics(model):
        plain = {}
        for name, value in vars(metric).items():
            if _is_plain(value):
                plain[name] = mapped(value, _without_array)
        counts[path] = plain
    carried = {path: module.carried_states() for path, module in _carrying(model)}
    return {"metrics": counts, "carried": carried}


def load_runtime_state(model: torch.nn.Module, saved: dict[str, Any]) -> None:
    """Restore what `save_runtime_state` returned for a model of the same config."""
    device = torch.device("cpu")
    for parameter in model.parameters():
        device = parameter.device
        break
    for path, metric in _metrics(model):
        for name, value in saved["metrics"].get(path, {}).items():
            setattr(metric, name, _restored(vars(metric).get(name), value, device))
    for path, module in _carrying(model):
        module.set_carried_states(saved["carried"][path])


def on_cpu(value: Any) -> Any:
    """Plain data with its tensors on the CPU."""
    return mapped(value, _moved_to_cpu)


def _moved_to_cpu(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.cpu()
    return value


def _metrics(model: torch.nn.Module) -> Iterator[tuple[str, Metric]]:
    """
    The metrics of all modules by path, also in lists, dictionaries and other metrics.
    """
    for owner, module in model.named_modules():
        yield from _metrics_of(owner, module)


def _metrics_of(path: str, owner: Any) -> Iterator[tuple[str, Metric]]:
    """The metrics in the attributes of a module or a metric."""
    for attribute, value in vars(owner).items():
        here = f"{path}.{attribute}"
        found = [(here, value)]
        for key, item in items(value):
            found.append((f"{here}[{key}]", item))
        for place, item in found:
            if isinstance(item, Metric):
                yield place, item
                yield from _metrics_of(place, item)


def _carrying(model: torch.nn.Module) -> Iterator[tuple[str, Carrying]]:
    """Modules that carry states from one batch to the next."""
    for path, module in model.named_modules():
        if isinstance(module, Carrying):
            yield path, module


def _is_plain(value: Any) -> bool:
    """
    Whether `torch.load` can read a value, whose arrays become tensors, without running
    code.
    """
    if isinstance(value, dict):
        return all(map(_is_plain, value.keys())) and all(map(_is_plain, value.values()))
    if type(value) in (list, tuple, set):
        return all(map(_is_plain, value))
    return isinstance(value, PLAIN)


def _without_array(value: Any) -> Any:
    """A tensor in place of an array."""
    if isinstance(value, numpy.ndarray):
        return torch.from_numpy(value.copy())
    return value


def _restored(present: Any, saved: Any, device: torch.device) -> Any:
    """The saved value with the type and device of the present one."""
    if isinstance(present, numpy.ndarray):
        return saved.numpy()
    if isinstance(saved, torch.Tensor):
        if isinstance(present, torch.Tensor):
            device = present.device
        return saved.to(device)
    if isinstance(present, dict) and type(present) is not dict:
        present.clear()
        present.update(saved)
        return present
    return saved
