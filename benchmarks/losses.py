"""
The losses of the first steps of every config at scale `mini`, bit by bit: does a change
of the code change what it computes?

    python benchmarks/losses.py write losses.json       # before the change
    python benchmarks/losses.py compare losses.json     # after it; on the same machine, with the same torch

Each config is trained for `STEPS` steps by its own trainer. Two minutes on one core.
"""

import argparse
import json
import random
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy
import torch
from allennlp.commands.train import TrainModel
from allennlp.common.plugins import import_plugins
from allennlp.training.callbacks import TrainerCallback

from elmo_tasks import resources
from elmo_tasks.training.config import read_config

STEPS = 20


class EnoughSteps(Exception):
    """Ends a training."""


class Losses(TrainerCallback):
    """Keeps the loss of each step, and ends the training after `STEPS`."""

    def __init__(self) -> None:
        super().__init__("")
        self.values: list[str] = []

    def on_batch(
        self, trainer: Any, inputs: Any, outputs: Any, *args: Any, **kwargs: Any
    ) -> None:
        for output in outputs:
            self.values.append(float(output["loss"]).hex())
        if len(self.values) >= STEPS:
            raise EnoughSteps


def losses_of(config: Path) -> list[str]:
    """The losses of a config's first steps, as hexadecimal numbers, which are exact."""
    random.seed(2)
    numpy.random.seed(2)
    torch.manual_seed(2)
    overrides: dict[str, Any] = {"trainer.enable_default_callbacks": False}
    if config.stem.startswith("squad"):  # whose passages are long
        overrides["dataset_reader.max_instances"] = 40
    params = read_config(config, json.dumps(overrides))
    for key in ("evaluation", "include_in_archive"):  # as `allennlp train` does
        params.pop(key, None)
    losses = Losses()
    with tempfile.TemporaryDirectory() as folder:
        training = TrainModel.from_params(
            params=params, serialization_dir=folder, local_rank=0
        )
        training.trainer._callbacks.append(losses)
        with suppress(EnoughSteps):
            training.trainer.train()
    return losses.values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0])
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    import_plugins()
    found = {}
    for config in sorted(resources.configs_root().glob("*.jsonnet")):
        found[config.stem] = losses_of(config)
        print(f"{config.stem}: {len(found[config.stem])} losses", flush=True)
    if arguments.action == "write":
        arguments.file.write_text(json.dumps(found, indent=1))
        return
    expected = json.loads(arguments.file.read_text())
    differing = [name for name in found if found[name] != expected.get(name)]
    if differing:
        sys.exit(f"other losses than before: {', '.join(differing)}")
    print("all losses are those of before, bit by bit")


if __name__ == "__main__":
    main()
