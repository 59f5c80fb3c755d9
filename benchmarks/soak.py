"""
Training runs killed with SIGKILL at random and resumed with `--recover`: is each equal
to an uninterrupted run?

Each of three small runs is trained once uninterrupted. Then it is trained repeatedly
and killed up to four times, once while a file of a checkpoint is written and otherwise
at a random moment, until there were twenty kills. Everything in the final folders is
compared bit for bit: weights, archive, the trainer's state with its random state,
metrics, the curve; only times, memory and paths may differ.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.killing import Place, Training, differences, fork_server
from tests.pretraining import toy
from tests.tiny import FIXTURES, write_data_root

CHAIN = 4
"""Maximum number of kills per run."""

PART = 0.7
"""
Random kills come within this fraction of an uninterrupted run's time, so that few runs
finish before.
"""

SIGKILLED = -9
SMALL_CHARACTERS = (
    "model.text_field_embedder.token_embedders.token_characters.encoder.num_filters"
)
OVERRIDES: dict[str, dict[str, Any]] = {
    "ner_elmo": {
        "dataset_reader.max_instances": 24,
        "model.encoder.hidden_sizes": [12, 8],
        SMALL_CHARACTERS: 4,
        "data_loader.batch_sampler.batch_size": 4,
        "trainer.num_epochs": 5,
        "trainer.patience": 3,
        "trainer.checkpointer.save_every_num_batches": 2,
    },
    "squad": {
        "dataset_reader.max_instances": 24,
        "model.encoder.hidden_size": 8,
        SMALL_CHARACTERS: 4,
        "data_loader.batch_sampler.batch_size": 4,
        "trainer.num_epochs": 4,
        "trainer.patience": 3,
        "trainer.checkpointer.save_every_num_batches": 2,
    },
    "bilm": toy.overrides(),
}
"""
NER with ELMo, a schedule and dropout; SQuAD with a moving average; the biLM with its
carried states.
"""

PHASES = {
    "archiving": "ending",
    "Epoch duration": "between epochs",
    "Validating": "validation",
    "- Training": "training",
    "Beginning training": "training",
}
"""What a training does after a line of its log that contains a key."""


def data_root(folder: Path) -> Path:
    """Tiny vectors, biLM and text, and the labelled data of the synthetic corpus."""
    root = write_data_root(folder)
    for task in ("ner", "squad"):
        shutil.copytree(FIXTURES / "miniworld" / task, root / task, dirs_exist_ok=True)
    return root


def where(run: Path) -> str:
    """What a run was doing when it was killed, from its files."""
    if any(path.name.endswith(".tmp") for path in run.glob(".*")):
        return "writing a file"
    log = run / "out.log"
    if not log.is_file():
        return "beginning"
    for line in reversed(log.read_text(errors="replace").splitlines()):
        for said, phase in PHASES.items():
            if said in line:
                return phase
    return "beginning"


def print_row(name: str, seconds: float, kills: int, equal: str, places: str) -> None:
    """A line of the table."""
    cells = [name, f"{seconds:.1f} s", str(kills), equal, places]
    print(f"| {' | '.join(cells)} |", flush=True)


def counted(fell: list[str]) -> str:
    """What the kills interrupted, and how often."""
    return ", ".join(f"{place} {count}" for place, count in Counter(fell).most_common())


def kill_and_resume(
    training: Training, run: Path, *, seconds: float, saves: int, drawn: random.Random
) -> list[str]:
    """
    Kills and resumes a run up to `CHAIN` times, then lets it finish; returns what each
    kill interrupted.
    """
    fell: list[str] = []
    in_checkpoint = drawn.randrange(CHAIN)
    for number in range(CHAIN):
        half = Place("torch:save", drawn.randint(1, 2 if number else saves), half=True)
        if number == in_checkpoint:
            process = training.start(run, killed_at=half)
            process.join()
        else:
            process = training.start(run)
            process.join(drawn.uniform(0.0, PART * seconds))
        process.kill()
        process.join()
        if process.exitcode != SIGKILLED:
            return fell
        fell.append(where(run))
    training.run(run)
    return fell


def soak(
    config: str, root: Path, out: Path, *, kills: int, drawn: random.Random
) -> bool:
    """Prints a line of the table; returns whether all runs are equal."""
    training = Training(config, root, OVERRIDES[config])
    began = time.perf_counter()
    training.run(out / config)
    seconds = time.perf_counter() - began
    saves = 2 * len(list((out / config).glob("metrics_epoch_*.json")))
    fell: list[str] = []
    runs = failed = 0
    while len(fell) < kills:
        runs += 1
        run = out / f"{config}-{runs}"
        fell += kill_and_resume(
            training, run, seconds=seconds, saves=saves, drawn=drawn
        )
        differing = differences(run, out / config)
        if differing:
            failed += 1
            print(f"{run.name} differs in {', '.join(differing[:5])}")
            print(Path(f"{run}.log").read_text()[-1500:])
    equal = f"{runs - failed} of {runs}"
    print_row(config, seconds, len(fell), equal, counted(fell))
    return failed == 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = list(OVERRIDES)
    parser.add_argument(
        "configs", nargs="*", help=f"of {', '.join(names)} (default: all)"
    )
    parser.add_argument(
        "--kills",
        type=int,
        default=20,
        help="of each kind of run, at least (default: 20)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of the moments (default: 1)"
    )
    options = parser.parse_args()
    drawn = random.Random(options.seed)
    began = time.perf_counter()
    print(
        "| run | uninterrupted | kills | runs equal bit for bit | interrupted |\n|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        started = fork_server().Process(target=len, args=((),))
        started.start()
        started.join()
        root = data_root(Path(folder) / "data")
        of = options.configs or names
        out = Path(folder)
        kills = options.kills
        alike = []
        for config in of:
            if config in OVERRIDES:
                alike.append(soak(config, root, out, kills=kills, drawn=drawn))
    print(f"{(time.perf_counter() - began) / 60:.1f} minutes")
    return 0 if all(alike) else 1


if __name__ == "__main__":
    sys.exit(main())
