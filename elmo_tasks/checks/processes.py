"""What several processes (`distributed`) cannot train with."""

from collections.abc import Iterator, Mapping
from typing import Any

from elmo_tasks.checks.problem import Problem, shown

LOCAL = ("127.0.0.1", "0.0.0.0", "localhost")
"""Values of `primary_address` for which AllenNLP finds a port."""


def process_problems(distributed: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[Problem]:
    """
    # Parameters

    distributed : `Mapping[str, Any]`
        The config's key of this name.
    config : `Mapping[str, Any]`
        The rest of the config.
    """
    devices, nodes = distributed.get("cuda_devices"), distributed.get("num_nodes", 1)
    if not isinstance(devices, list) or not isinstance(nodes, int) or len(devices) * nodes < 2:
        return  # see `device_problems`
    if distributed.get("primary_address", LOCAL[0]) not in LOCAL and "primary_port" not in distributed:
        wanted = "a port: primary_address is another machine"
        yield Problem(path="distributed.primary_port", wanted=wanted, found="none", kind="missing")
    yield from _batch_size_problems(config, len(devices) * nodes)
    if config.get("evaluate_on_test"):
        wanted = "false with distributed: only the first process would evaluate, and fail (use allennlp evaluate)"
        yield Problem(path="evaluate_on_test", wanted=wanted, found="true", kind="value")
    trainer = config.get("trainer")
    checkpointer = trainer.get("checkpointer") if isinstance(trainer, Mapping) else None
    seconds = checkpointer.get("save_every_num_seconds") if isinstance(checkpointer, Mapping) else None
    if seconds is not None:
        path, wanted = "trainer.checkpointer.save_every_num_seconds", "save_every_num_batches with distributed"
        yield Problem(path=path, wanted=wanted, found=shown(seconds), kind="value")


def _batch_size_problems(config: Mapping[str, Any], processes: int) -> Iterator[Problem]:
    """Batches of the language model, whose rows the processes share."""
    for key in ("data_loader", "validation_data_loader"):
        loader = config.get(key)
        if not isinstance(loader, Mapping) or loader.get("type") != "elmo_tasks_lm":
            continue
        size = loader.get("batch_size")
        if isinstance(size, int) and size % processes:
            wanted = f"a multiple of the number of processes, {processes}"
            yield Problem(path=f"{key}.batch_size", wanted=wanted, found=shown(size), kind="value")
