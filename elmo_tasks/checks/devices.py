"""The devices of a config."""

from collections.abc import Iterator
from typing import Any

from elmo_tasks.checks.problem import Problem, get, shown
from elmo_tasks.compat.devices import devices_here, has_device


def device_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """Missing devices in `distributed.cuda_devices`, or in `trainer.cuda_device`, which `distributed` replaces."""
    path = "distributed.cuda_devices" if isinstance(config.get("distributed"), dict) else "trainer.cuda_device"
    given = get(config, path)
    for device in given if isinstance(given, list) and path.startswith("distributed") else [given]:
        if device is not None and not has_device(device):
            yield Problem(path=path, expected=devices_here(), got=shown(device))
