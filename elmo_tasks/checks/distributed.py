"""The devices of a config, and training by several processes (`distributed`)."""

from collections.abc import Iterator, Mapping
from typing import Any

from allennlp.nn.parallel import DdpAccelerator

from elmo_tasks.checks.objects import object_problems
from elmo_tasks.checks.problem import Problem, get, listed, shown, unknown_key
from elmo_tasks.compat.devices import devices_here, has_device

DISTRIBUTED = ("cuda_devices", "num_nodes", "primary_address", "primary_port", "ddp_accelerator")

LOCAL = ("127.0.0.1", "0.0.0.0", "localhost")
"""Values of `primary_address` for which AllenNLP chooses a port."""


def device_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """Missing devices in `distributed.cuda_devices`, or in `trainer.cuda_device`, which `distributed` replaces."""
    distributed = config.get("distributed")
    if not isinstance(distributed, Mapping):
        yield from _missing_device("trainer.cuda_device", get(config, "trainer.cuda_device"))
        return
    path, devices, nodes = "distributed.cuda_devices", distributed.get("cuda_devices"), distributed.get("num_nodes")
    has_nodes = isinstance(nodes, int) and nodes > 1
    if not isinstance(devices, list) or len(devices) < (1 if has_nodes else 2):
        expected = "a list of devices" if has_nodes else "a list of at least two devices, or num_nodes above 1"
        yield Problem(path=path, expected=expected, got=shown(devices), kind="device")
        return
    for place, device in enumerate(devices):
        yield from _missing_device(f"{path}.{place}", device)


def _missing_device(path: str, device: Any) -> Iterator[Problem]:
    if device is not None and not has_device(device):
        yield Problem(path=path, expected=devices_here(), got=shown(device), kind="device")


def distributed_problems(given: Any, config: dict[str, Any]) -> Iterator[Problem]:
    """Problems of the value of `distributed`, given the rest of the config."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        expected = f"an object ({listed(DISTRIBUTED)})"
        yield Problem(path="distributed", expected=expected, got=shown(given), kind="type")
        return
    yield from (
        unknown_key(f"distributed.{key}", "distributed", DISTRIBUTED) for key in given if key not in DISTRIBUTED
    )
    if given.get("ddp_accelerator") is not None:
        yield from object_problems("distributed.ddp_accelerator", given["ddp_accelerator"], DdpAccelerator, None)
    devices, nodes = given.get("cuda_devices"), given.get("num_nodes", 1)
    if isinstance(devices, list) and isinstance(nodes, int) and len(devices) * nodes > 1:  # else see `device_problems`
        yield from _process_problems(given, config, len(devices) * nodes)


def _process_problems(given: Mapping[str, Any], config: dict[str, Any], processes: int) -> Iterator[Problem]:
    if given.get("primary_address", LOCAL[0]) not in LOCAL and "primary_port" not in given:
        expected = "a port: primary_address is another machine"
        yield Problem(path="distributed.primary_port", expected=expected, got="none", kind="missing")
    for key in ("data_loader", "validation_data_loader"):
        size = get(config, f"{key}.batch_size")
        if get(config, f"{key}.type") == "elmo_tasks_lm" and isinstance(size, int) and size % processes:
            expected = f"a multiple of the number of processes, {processes}"
            yield Problem(path=f"{key}.batch_size", expected=expected, got=shown(size), kind="value")
    if config.get("evaluate_on_test"):
        expected = "false with distributed: only the first process would evaluate, and fail (use allennlp evaluate)"
        yield Problem(path="evaluate_on_test", expected=expected, got="true", kind="value")
    path = "trainer.checkpointer.save_every_num_seconds"
    if (seconds := get(config, path)) is not None:
        expected = "save_every_num_batches with distributed"
        yield Problem(path=path, expected=expected, got=shown(seconds), kind="value")
