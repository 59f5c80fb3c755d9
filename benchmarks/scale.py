"""
Vectors and the table `demo` on one and two nodes with a core each, by Ray and by local
processes, as docs/results/scale.md has them. All nodes are on this machine, which has to have
two idle cores.

`PYTHONPATH=. python benchmarks/scale.py TEXT`: a text of about a million tokens, one
sentence a line.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 500 * 2**20}


@contextmanager
def cluster(nodes: int) -> Iterator[tuple[Cluster, list[str]]]:
    """
    A Ray cluster of this many nodes, besides its head, which executes nothing; and the
    options that choose it.
    """
    head = NODE | {"num_cpus": 0, "include_dashboard": False}
    started = Cluster(True, head_node_args=head)
    try:
        for _ in range(nodes):
            started.add_node(**NODE)
        yield started, ["--executor", "ray", "--address", started.address]
    finally:
        started.shutdown()


def seconds(arguments: list[str]) -> float:
    """Of a call of elmo-tasks."""
    command = [sys.executable, "-m", "elmo_tasks"] + arguments
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def measure(
    nodes: int,
    jobs: dict[str, list[str]],
    times: dict[tuple[str, str, int], list[float]],
) -> None:
    with cluster(nodes) as (_, address), tempfile.TemporaryDirectory() as folder:
        workers = ["--workers", str(nodes)]
        for engine, options in (("local", workers), ("Ray", address + workers)):
            for name, job in jobs.items():
                out = f"{folder}/{engine}-{name}"
                taken = seconds([part.replace("OUT", out) for part in job] + options)
                times.setdefault((name, engine, nodes), []).append(taken)
                print(f"{name}, {engine}, {nodes}: {taken:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--seeds", type=int, default=4, help="of the table; two runs each"
    )
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    root = Path(__file__).resolve().parents[1]
    os.environ["PYTHONPATH"] = f"{root}:{os.environ.get('PYTHONPATH', '')}"
    jobs = {
        "vectors": [
            "elmo",
            str(args.text.resolve()),
            "OUT",
            "--shards",
            "16",
            "--top",
            "--float16",
        ],
        "table": ["ablate", "demo", "-s", "OUT", "--seeds", str(args.seeds)],
    }
    times: dict[tuple[str, str, int], list[float]] = {}
    for _ in range(args.rounds):
        for nodes in (1, 2):
            measure(nodes, jobs, times)
    tokens = len(args.text.read_text(encoding="utf-8").split())
    print("| job | engine | 1 | 2 | ratio |\n|---|---|---|---|---|")
    for name, unit, amount in (
        ("vectors", "tokens/s", tokens),
        ("table", "runs/h", 2 * args.seeds * 3600),
    ):
        for engine in ("local", "Ray"):
            one = amount / min(times[name, engine, 1])
            two = amount / min(times[name, engine, 2])
            print(
                f"| {name}, {unit} | {engine} | {one:,.0f} | {two:,.0f} | {two / one:.2f} |"
            )


if __name__ == "__main__":
    main()
