"""The devices that a config names: whether they are there."""

from collections.abc import Iterator, Mapping
from typing import Any

from elmo_tasks.checks.problem import Problem, below, shown
from elmo_tasks.compat.devices import devices_here, has_device


def device_problems(config: Mapping[str, Any]) -> Iterator[Problem]:
    """Those of `distributed.cuda_devices`, or of `trainer.cuda_device`, which `distributed` replaces."""
    distributed, trainer = config.get("distributed"), config.get("trainer")
    if isinstance(distributed, Mapping):
        yield from _list_problems("distributed.cuda_devices", distributed)
    elif isinstance(trainer, Mapping):
        yield from _problems("trainer.cuda_device", trainer.get("cuda_device"))


def _list_problems(path: str, distributed: Mapping[str, Any]) -> Iterator[Problem]:
    devices, nodes = distributed.get("cuda_devices"), distributed.get("num_nodes")
    several_nodes = isinstance(nodes, int) and nodes > 1
    if not isinstance(devices, list) or len(devices) < (1 if several_nodes else 2):
        wanted = "a list of devices" if several_nodes else "a list of two devices at least, or num_nodes above 1"
        yield Problem(path=path, wanted=wanted, found=shown(devices), kind="device")
        return
    for place, device in enumerate(devices):
        yield from _problems(below(path, place), device)


def _problems(path: str, device: Any) -> Iterator[Problem]:
    if device is not None and not has_device(device):
        yield Problem(path=path, wanted=devices_here(), found=shown(device), kind="device")
