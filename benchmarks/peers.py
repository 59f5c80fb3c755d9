"""
Training next to allennlp-models 2.10.1: seconds of an epoch and peak memory of five
models, without ELMo, with ELMo computed, and ours with ELMo from the layer cache.

    PYTHONPATH=. OMP_NUM_THREADS=1 python benchmarks/peers.py rows.jsonl

Theirs runs in the environment that `make test-models` builds. Both read the same
cleaned texts of our config's training data in the same batches, with the same sizes,
optimizer and word vectors, and without validation. Each training is a process of its
own. Its second epoch is measured, from the end of the first one, with the checkpoint
between them. A row that is in the file is not measured again.

The models differ in these parts, as `parameters` of the rows shows: the predicate's
embedding and a second bias in SRL; the LSTM's gates, and features of speakers and
genres, in coreference.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

THEIRS = Path("build/models/bin/python")
OURS = "elmo_tasks"
NAME = "allennlp-models"
CASES = (
    ("none", OURS),
    ("none", NAME),
    ("computed", OURS),
    ("computed", NAME),
    ("cache", OURS),
)
"""ELMo, and the package: in turns."""

TITLES = {
    "snli": "ESIM (SNLI)",
    "srl": "SRL, eight layers",
    "coref": "coreference",
    "sst": "BCN (SST)",
    "ner": "CRF tagger (NER)",
}
ELMO = {
    "none": "without ELMo",
    "computed": "ELMo computed",
    "cache": "ELMo from the cache",
}
Row = dict[str, Any]


def measure(config: Path, folder: Path, package: str) -> None:
    """Trains in this process, which leaves `times.json` in the folder."""
    from elmo_tasks.host import load_allennlp

    load_allennlp()
    import_module("peer_times")  # registers the callback

    if package == OURS:
        from elmo_tasks.cli.main import main as elmo_tasks

        elmo_tasks(["train", str(config), "-s", str(folder)])
        return
    from allennlp.commands.train import train_model
    from allennlp.common import Params

    for task in ("classification", "coref", "pair_classification", "tagging"):
        import_module(f"allennlp_models.{task}")
    import_module("allennlp_models.structured_prediction")
    train_model(Params.from_file(config), str(folder))


def run(config: Row, package: str, python: Path, folder: Path) -> Row:
    """What a training in another process measures."""
    file = folder / "config.json"
    file.write_text(json.dumps(config))
    command = [
        str(python),
        __file__,
        "--train",
        str(file),
        str(folder / "run"),
        package,
    ]
    log = folder / "log"
    with log.open("w") as output:
        failed = subprocess.run(command, stdout=output, stderr=output).returncode
    if failed:
        raise SystemExit(f"{package} failed:\n{log.read_text()[-3000:]}")
    return json.loads((folder / "run" / "times.json").read_text())


def measured(file: Path) -> list[Row]:
    """The rows of a file, if there is one."""
    if not file.is_file():
        return []
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def key(row: Row) -> tuple[Any, ...]:
    return row["row"], row["elmo"], row["package"], row["seed"]


def measure_all(arguments: argparse.Namespace, file: Path) -> None:
    """Adds the rows that the file lacks."""
    from peer_tasks import PEERS, write_files

    done = {key(row) for row in measured(file)}
    chosen = [peer for peer in PEERS if peer.name in (arguments.task or TITLES)]
    with tempfile.TemporaryDirectory() as name:
        for repeat in range(1, arguments.repeats + 1):
            for peer in chosen:
                shared = Path(name) / peer.name
                files = write_files(peer, arguments.scale, shared)
                for elmo, package in CASES:
                    row: Row = {"row": peer.name, "elmo": elmo, "package": package}
                    row["seed"] = repeat
                    if key(row) in done:
                        continue
                    row |= measure_one(arguments, peer, files, elmo, package)
                    with file.open("a", encoding="utf-8") as output:
                        output.write(json.dumps(row) + "\n")
                    print(json.dumps(row), flush=True)


def measure_one(
    arguments: argparse.Namespace, peer: Any, files: Any, elmo: str, package: str
) -> Row:
    """What a training of a task by a package measures."""
    from peer_tasks import our_config, their_config

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with_elmo = elmo != "none"
        if package == NAME:
            config = their_config(peer, arguments.scale, files, with_elmo)
            return run(config, package, arguments.peer, folder)
        cache = None
        if elmo == "cache":
            cache = folder / "layers"
        config = our_config(peer, arguments.scale, files, with_elmo, cache)
        return run(config, package, Path(sys.executable), folder)


def values_of(
    rows: Sequence[Row], task: str, elmo: str, package: str, name: str
) -> list[float]:
    """A measurement of each repeat."""
    found = []
    for row in rows:
        if (row["row"], row["elmo"], row["package"]) == (task, elmo, package):
            found.append((row["seed"], row[name]))
    return [value for _, value in sorted(found)]


def cell(rows: Sequence[Row], task: str, elmo: str) -> str:
    """`4.51, 6.93 (1.54)`: medians of the seconds, ours first, and of the speed-ups."""
    ours = values_of(rows, task, elmo, OURS, "seconds")
    theirs = values_of(rows, task, peer_of(elmo), NAME, "seconds")
    # The last repeat may not be complete.
    ratios = [b / a for a, b in zip(ours, theirs, strict=False)]
    if not ratios:
        return ""
    ratio = statistics.median(ratios)
    return (
        f"{statistics.median(ours):.2f}, {statistics.median(theirs):.2f} ({ratio:.2f})"
    )


def peak(rows: Sequence[Row], task: str, elmo: str) -> str:
    """`0.89, 0.95`: medians of peak memory, ours first."""
    medians = []
    for package in (OURS, NAME):
        values = values_of(rows, task, elmo, package, "memory")
        if not values:
            return ""
        medians.append(f"{statistics.median(values):.2f}")
    return ", ".join(medians)


def peer_of(elmo: str) -> str:
    """Theirs has no cache: ours from the cache is compared with theirs computed."""
    return "computed" if elmo == "cache" else elmo


def table(rows: Sequence[Row]) -> list[str]:
    """The lines of the table, ours before theirs in each cell."""
    heads = ["", *ELMO.values(), "GB, without ELMo", "GB, ELMo computed"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for task, title in TITLES.items():
        cells = [title]
        for elmo in ELMO:
            cells.append(cell(rows, task, elmo))
        for elmo in ("none", "computed"):
            cells.append(peak(rows, task, elmo))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n\n")[0])
    parser.add_argument("rows", nargs="?", type=Path, help="file of the rows")
    parser.add_argument("--scale", choices=("mini", "small"), default="small")
    parser.add_argument("--task", action="append", help="of our configs; default: all")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", type=Path, default=THEIRS, help="Python of theirs")
    parser.add_argument("--table", action="store_true", help="measure nothing")
    parser.add_argument("--train", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        config, folder, package = arguments.train
        measure(Path(config), Path(folder), package)
        return
    if arguments.rows is None:
        parser.error("expected the file of the rows")
    if not arguments.table:
        measure_all(arguments, arguments.rows)
    print("\n".join(table(measured(arguments.rows))))


if __name__ == "__main__":
    main()
