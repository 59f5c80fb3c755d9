"""
Training runs killed with SIGKILL at random and resumed with `--recover`: is each equal
to an uninterrupted run?

Each of three small runs is trained once uninterrupted. Then it is trained repeatedly
and killed up to four times, once while a file of a checkpoint is written and otherwise
at a random moment, until there were twenty kills. Everything in the final folders is
compared bit for bit: weights, archive, the trainer's state with its random state,
metrics, the curve; only times, memory and paths may differ. `torchrun` does this on two
nodes. `serve` sends a server requests of all kinds: is each answered, in time, and does
memory stay?
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

from tests.archives.make import INPUTS, STORED
from tests.killing import Place, Training, differences, warm_up
from tests.pretraining import toy
from tests.pretraining.test_torchrun import cluster
from tests.tiny import FIXTURES, write_data_root
from tests.web import traffic
from tests.web.serving import serving

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

SECONDS = 30
"""The time limit of the server."""

GROWN = 300_000_000
"""Bytes: more than what six models may keep between answers."""

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


def soak_torchrun(root: Path, out: Path, *, kills: int, drawn: random.Random) -> bool:
    """
    The same for two nodes: a process of either is killed, or the second node is lost
    and joins again.
    """
    began = time.perf_counter()
    with cluster(root, out / "torchrun") as nodes:
        nodes.wait()
    seconds = time.perf_counter() - began
    fell: list[str] = []
    runs = failed = 0
    while len(fell) < kills:
        runs += 1
        run = out / f"torchrun-{runs}"
        with cluster(root, run, restarts=100) as nodes:
            for _ in range(CHAIN):
                time.sleep(drawn.uniform(0.3, 1.0) * seconds)
                kill, number = drawn.choice(
                    [(nodes.kill_worker, 0), (nodes.kill_worker, 1), (nodes.lose, 1)]
                )
                try:
                    kill(number)
                except (ValueError, OSError):  # it or torchrun has just ended it
                    continue
                fell.append(where(run))
            nodes.wait()
            differing = differences(run, out / "torchrun")
            if differing:
                failed += 1
                print(f"{run.name} differs in {', '.join(differing[:5])}")
                print(nodes.lines()[-1500:])
    equal = f"{runs - failed} of {runs}"
    print_row("bilm, torchrun", seconds, len(fell), equal, counted(fell))
    return failed == 0


def soak_serve(*, count: int, drawn: random.Random) -> bool:
    """
    Requests of all kinds to a server of the stored archives, from six clients at a
    time. Prints a table of the kinds, and the memory of the server's processes after
    each tenth; returns whether each answer was valid and memory stayed.
    """
    archives = [STORED / "1" / f"{task}.tar.gz" for task in INPUTS]
    answers: list[traffic.Answer] = []
    sizes: list[int] = []
    wrong: list[str] = []
    began = time.perf_counter()

    with serving(*archives, "--timeout", SECONDS) as server, ThreadPool(6) as clients:

        def answered(request: traffic.Request) -> list[traffic.Answer]:
            limit = 2 * SECONDS + traffic.SLACK
            try:
                return traffic.exchange(server.port, request, limit=limit)
            except (AssertionError, ValueError, OSError) as error:
                wrong.append(f"{request.kind}: {error!r}")
                return []

        for _ in range(10):
            requests = [traffic.draw(drawn) for _ in range(count // 10)]
            for found in clients.imap_unordered(answered, requests):
                answers += found
            sizes.append(traffic.memory(server.process.pid))
            print(f"{len(answers)} answers, {sizes[-1] / 1e6:.0f} MB", flush=True)
        server.process.terminate()
        status = server.process.wait(60)
        server.errors.seek(0)
        has_traceback = "Traceback" in server.errors.read()

    print("\n| kind of request | answers | by status | slowest | largest |")
    print("|---|---|---|---|---|")
    for kind in dict.fromkeys(answer.kind for answer in answers):
        own = [answer for answer in answers if answer.kind == kind]
        by_status = Counter(answer.status for answer in own)
        shown = [f"{status} {number}" for status, number in by_status.most_common()]
        slowest = max(answer.seconds for answer in own)
        largest = max(answer.size for answer in own)
        cells = [kind, str(len(own)), ", ".join(shown)]
        cells += [f"{slowest:.1f} s", f"{largest:,}"]
        print(f"| {' | '.join(cells)} |")
    unavailable = Counter(answer.error for answer in answers if answer.status == 503)
    print(f"\n503: {dict(unavailable)}; wrong: {wrong[:5]}; exit status {status}")
    print(
        f"{(time.perf_counter() - began) / 60:.1f} minutes, of which some start the server"
    )
    grown = max(sizes) - sizes[0]
    return not wrong and not has_traceback and status == 0 and grown < GROWN


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = list(OVERRIDES) + ["torchrun", "serve"]
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
        "--requests", type=int, default=10_000, help="to the server (default: 10,000)"
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
        warm_up()
        root = data_root(Path(folder) / "data")
        of = options.configs or names
        out = Path(folder)
        kills = options.kills
        half = (kills + 1) // 2
        alike = []
        for config in of:
            if config in OVERRIDES:
                alike.append(soak(config, root, out, kills=kills, drawn=drawn))
        if "torchrun" in of:
            alike.append(soak_torchrun(root, out, kills=half, drawn=drawn))
    if "serve" in of:
        alike.append(soak_serve(count=options.requests, drawn=drawn))
    print(f"{(time.perf_counter() - began) / 60:.1f} minutes")
    return 0 if all(alike) else 1


if __name__ == "__main__":
    sys.exit(main())
