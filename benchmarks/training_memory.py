"""
Resident memory over ten thousand training batches of tiny models: NER, NER with ELMo,
with the layer cache, and the language model, in `elmo-tasks train` with validations and
checkpoints, each in a separate process.
"""

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from allennlp.training.callbacks import TrainerCallback

from elmo_tasks.cli.main import main as elmo_tasks
from tests.memory import resident
from tests.pretraining import toy
from tests.tiny import FIXTURES, write_data_root

PER_EPOCH = 100
NER: dict[str, Any] = {
    "model.encoder.hidden_sizes": [12, 8],
    "model.text_field_embedder.token_embedders.token_characters.encoder.num_filters": 4,
    "data_loader.batch_sampler.batch_size": 4,
}
LM: dict[str, Any] = {
    "data_loader.steps_per_epoch": PER_EPOCH,
    "trainer.checkpointer.save_every_num_batches": None,
}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "ner": ("ner", NER),
    "ner_elmo": ("ner_elmo", NER),
    "ner_elmo, cache_dir": ("ner_elmo", NER | {"model.elmo.cache_dir": "layers"}),
    "bilm": ("bilm", toy.overrides() | LM),
}


@TrainerCallback.register("resident_memory")
class ResidentMemory(TrainerCallback):
    """Writes the resident memory and the time every so many batches."""

    def __init__(self, serialization_dir: str, every: int) -> None:
        super().__init__(serialization_dir)
        self._file = Path(serialization_dir) / "resident.jsonl"
        self._every = every
        self._batches = 0
        self._began = time.perf_counter()

    def on_batch(self, *_: Any, is_training: bool, **__: Any) -> None:
        """Called by the trainer, in validation, too."""
        if not is_training:
            return
        self._batches += 1
        if self._batches % self._every == 0:
            seconds = time.perf_counter() - self._began
            row = [self._batches, resident() / 1e6, seconds]
            with self._file.open("a") as file:
                file.write(json.dumps(row) + "\n")


def data_root(folder: Path) -> Path:
    """
    The training data of the synthetic corpus; tiny vectors, biLM and validation data.
    """
    root = write_data_root(folder)
    shutil.copy(FIXTURES / "miniworld/ner/eng.train", root / "ner/eng.train")
    for file in (FIXTURES / "miniworld/lm").glob("train.*"):
        shutil.copy(file, root / "lm")
    return root


def run(case: str, batches: int, every: int, folder: Path) -> None:
    """One case, in this process; AllenNLP logs to stderr."""
    config, overrides = CASES[case]
    root = data_root(folder / "data")
    callbacks: list[dict[str, Any]] = []
    if config == "bilm":
        callbacks.append({"type": "elmo_tasks_lm_progress"})
    callbacks.append({"type": "resident_memory", "every": every})
    overrides = {
        key: value for key, value in overrides.items() if "callbacks" not in key
    }
    overrides["trainer.callbacks"] = callbacks
    overrides["trainer.num_epochs"] = batches // PER_EPOCH
    if "model.elmo.cache_dir" in overrides:
        overrides["model.elmo.cache_dir"] = str(folder / "layers")
    file = root / "training_config" / f"{config}.jsonnet"
    torch.set_num_threads(1)
    elmo_tasks(
        ["train", str(file), "-s", str(folder / "run"), "-o", json.dumps(overrides)]
    )


def row(case: str, batches: int, every: int) -> str:
    """A line of the table, measured in a separate process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--batches", str(batches)]
        command += ["--every", str(every), "--case", case, folder]
        with (Path(folder) / "log").open("w") as log:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=log)
        lines = (Path(folder) / "run/resident.jsonl").read_text().splitlines()
        measured = [json.loads(line) for line in lines]
    held = [size for _, size, _ in measured]
    seconds = measured[-1][2]
    cells = [case]
    cells += [f"{size:.1f}" for size in held]
    cells += [f"{held[-1] - held[0]:+.1f}", f"{seconds:.0f} s"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {'; '.join(CASES)} (default: all)"
    )
    parser.add_argument("--batches", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=1_000)
    parser.add_argument(
        "--case", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS
    )
    args = parser.parse_args()
    if args.case:
        run(args.case[0], args.batches, args.every, Path(args.case[1]))
        return
    print(
        f"torch {torch.__version__}, {platform.machine()}, MB after so many batches:\n"
    )
    counts = range(args.every, args.batches + 1, args.every)
    print(f"| | {' | '.join(f'{count:,}' for count in counts)} | last - first | time |")
    print("|---" * (len(counts) + 3) + "|")
    for case in args.names or CASES:
        print(row(case, args.batches, args.every), flush=True)


if __name__ == "__main__":
    main()
