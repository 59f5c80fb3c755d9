"""
Requests per second and latencies of `elmo-tasks serve` on loopback, and its memory, as docs/RELIABILITY.md has them.

`PYTHONPATH=. python benchmarks/load.py out/ner_elmo out/snli_elmo`: folders of a NER and an SNLI model.
"""

import argparse
import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

from elmo_tasks.formats.columns import read_columns
from elmo_tasks.resources import fixtures_root

WORLD = fixtures_root() / "miniworld"


@contextmanager
def serving(archives: list[str]) -> Iterator[tuple[int, int]]:
    """The port and the process id of a server."""
    command = [sys.executable, "-m", "elmo_tasks", "serve", "--port", "0", *archives]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready = json.loads(next(line for line in process.stdout if line.startswith("{")))
            yield int(ready["url"].rstrip("/").rpartition(":")[2]), process.pid
        finally:
            process.terminate()


def inputs(task: str) -> list[bytes]:
    """The test sentences or pairs of the synthetic corpus."""
    if task == "ner":
        found: list[Any] = [{"tokens": one.columns[0]} for one in read_columns(WORLD / "ner" / "eng.testb")]
    else:
        lines = (WORLD / "snli" / "snli_1.0_test.jsonl").read_text("utf-8").splitlines()
        pairs = map(json.loads, lines)
        found = [{"premise": pair["sentence1"], "hypothesis": pair["sentence2"]} for pair in pairs]
    return [json.dumps(one).encode() for one in found]


class Load:
    """`clients` threads that send requests one after the other."""

    def __init__(self, port: int, name: str, bodies: list[bytes]) -> None:
        self._port, self._path, self._bodies = port, f"/api/predict/{name}", cycle(bodies)
        self._lock, self._left = threading.Lock(), 0
        self.seconds: list[float] = []
        self.failed = 0

    def run(self, requests: int, clients: int) -> float:
        """The seconds until all are answered."""
        self._left, self.seconds, self.failed = requests, [], 0
        threads = [threading.Thread(target=self._client) for _ in range(clients)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - start

    def _client(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        while True:
            with self._lock:
                if not self._left:
                    break
                self._left -= 1
                body = next(self._bodies)
            start = time.perf_counter()
            connection.request("POST", self._path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            with self._lock:
                self.seconds.append(time.perf_counter() - start)
                self.failed += answer.status != 200
        connection.close()


def megabytes(process: int) -> float:
    """The resident memory of a process."""
    line = next(line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ner")
    parser.add_argument("snli")
    parser.add_argument("--requests", type=int, default=500, help="for each number of clients")
    parser.add_argument("--memory", type=int, default=10_000, help="requests while memory is measured, of NER")
    args = parser.parse_args()
    with serving([f"ner={args.ner}", f"snli={args.snli}"]) as (port, process):
        print("| task | clients | requests/s | median | 99th percentile | errors |\n|---|---|---|---|---|---|")
        for task in ("ner", "snli") if args.requests else ():
            load = Load(port, task, inputs(task))
            load.run(50, 1)
            for clients in (1, 8, 32):
                total = load.run(args.requests, clients)
                ordered = sorted(load.seconds)
                middle, last = (1000 * ordered[int(share * len(ordered))] for share in (0.5, 0.99))
                row = f"| {task} | {clients} | {args.requests / total:.1f} | {middle:.0f} ms | {last:.0f} ms"
                print(f"{row} | {load.failed} |", flush=True)
        load, step = Load(port, "ner", inputs("ner")), max(1, args.memory // 10)
        for number in range(step, args.memory + 1, step):
            load.run(step, 32)
            print(f"{number:,} requests: {megabytes(process):.1f} MB, {load.failed} errors", flush=True)


if __name__ == "__main__":
    main()
