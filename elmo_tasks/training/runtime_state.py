"""What a model remembers from batch to batch outside its state dictionary: counts of metrics, carried states."""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy
import torch
from allennlp.training.metrics import Metric

SCALARS = (bool, int, float, str, type(None), numpy.generic)


@runtime_checkable
class Carrying(Protocol):
    """A module that carries states from one batch to the next, which its state dictionary does not hold."""

    def carried_states(self) -> Any:
        """Plain data for a checkpoint."""

    def set_carried_states(self, states: Any) -> None:
        """Go on with what `carried_states` gave."""


def save_runtime_state(model: torch.nn.Module) -> dict[str, Any]:
    """
    Plain data for a checkpoint: of each metric the attributes that are plain themselves, and the carried states.

    Attributes that are not, such as a vocabulary, come from the config.
    """
    return {
        "metrics": {
            path: {name: plain(value) for name, value in vars(metric).items() if is_plain(value)}
            for path, metric in metrics_of(model)
        },
        "carried": {path: module.carried_states() for path, module in carrying(model)},
    }


def load_runtime_state(model: torch.nn.Module, saved: dict[str, Any]) -> None:
    """Gives a model what `save_runtime_state` took from one of the same config."""
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    for path, metric in metrics_of(model):
        for name, value in saved["metrics"].get(path, {}).items():
            setattr(metric, name, like(vars(metric).get(name), value, device))
    for path, module in carrying(model):
        module.set_carried_states(saved["carried"][path])


def extra_states(model: torch.nn.Module) -> dict[str, Any]:
    """What modules put into the state dictionary besides tensors, by path: it may differ between processes."""
    common = torch.nn.Module.get_extra_state
    return {
        path: module.get_extra_state()
        for path, module in model.named_modules()
        if type(module).get_extra_state is not common
    }


def on_cpu(value: Any) -> Any:
    """Plain data with copies of its tensors on the CPU where they are elsewhere."""
    if isinstance(value, dict):
        return {key: on_cpu(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(on_cpu(item) for item in value)
    return value.cpu() if isinstance(value, torch.Tensor) else value


def metrics_of(model: torch.nn.Module) -> Iterator[tuple[str, Metric]]:
    """The metrics that the modules of a model hold, alone or in lists and dictionaries, by path."""
    for owner, module in model.named_modules():
        for attribute, value in vars(module).items():
            for key, item in _items(value):
                if isinstance(item, Metric):
                    yield f"{owner}.{attribute}{key}", item


def carrying(model: torch.nn.Module) -> Iterator[tuple[str, Carrying]]:
    """The modules that carry states, by path."""
    return ((path, module) for path, module in model.named_modules() if isinstance(module, Carrying))


def is_plain(value: Any) -> bool:
    """Whether a checkpoint can hold it, as `plain` makes it, and `torch.load` read it without running code."""
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(item) for key, item in value.items())
    if type(value) in (list, tuple, set):
        return all(is_plain(item) for item in value)
    return isinstance(value, (*SCALARS, torch.Tensor, numpy.ndarray))


def plain(value: Any) -> Any:
    """Arrays as tensors, and every kind of dictionary as a `dict`."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return type(value)(plain(item) for item in value)
    return torch.from_numpy(value.copy()) if isinstance(value, numpy.ndarray) else value


def like(present: Any, saved: Any, device: torch.device) -> Any:
    """What was saved, of the kind and on the device that the attribute has at present, or on the model's."""
    if isinstance(saved, torch.Tensor) and not isinstance(present, numpy.ndarray):
        return saved.to(present.device if isinstance(present, torch.Tensor) else device)
    if isinstance(present, numpy.ndarray):
        return saved.numpy()
    if isinstance(present, dict) and type(present) is not dict:
        present.clear()
        present.update(saved)
        return present
    return saved


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key}]", item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"[{place}]", item) for place, item in enumerate(value))
    else:
        yield "", value
