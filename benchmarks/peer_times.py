"""The callback with which both packages are measured by `peers.py`."""

import json
import time
from pathlib import Path
from typing import Any

from allennlp.training.callbacks import TrainerCallback


@TrainerCallback.register("peer_times")
class PeerTimes(TrainerCallback):
    """
    Writes `times.json` into the folder of the run: processor and wall seconds of the
    last epoch, the peak of the process's memory in GB, the number of trained
    parameters, and the batches and instances of an epoch.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._file = Path(serialization_dir) / "times.json"
        self._began = (time.process_time(), time.perf_counter())
        self._batches = 0
        self._losses: list[float] = []

    def on_batch(
        self, trainer: Any, inputs: Any, outputs: Any, *args: Any, **kwargs: Any
    ) -> None:
        self._batches += 1
        self._losses += [float(output["loss"]) for output in outputs]

    def on_epoch(self, trainer: Any, *args: Any, **kwargs: Any) -> None:
        now = (time.process_time(), time.perf_counter())
        parameters = 0
        for parameter in trainer.model.parameters():
            if parameter.requires_grad:
                parameters += parameter.numel()
        found = {
            "seconds": round(now[0] - self._began[0], 3),
            "wall": round(now[1] - self._began[1], 3),
            "memory": round(_peak() / 1e9, 3),
            "parameters": parameters,
            "instances": len(list(trainer.data_loader.iter_instances())),
            "batches": self._batches,
            "loss": round(sum(self._losses) / len(self._losses), 4),
        }
        self._file.write_text(json.dumps(found))
        self._batches = 0
        self._losses = []
        self._began = (time.process_time(), time.perf_counter())


def _peak() -> int:
    """The largest resident memory of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise SystemExit("expected VmHWM in /proc/self/status, got none")
