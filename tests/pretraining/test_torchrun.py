"""
Training by torchrun, on one machine and on two nodes, which are two agents here: as by
`distributed`. A process is killed, and torchrun starts all again.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from allennlp.common.util import find_open_port

from tests.killing import differences
from tests.pretraining import toy
from tests.system import processes

pytestmark = pytest.mark.slow

SECONDS = 900


class Cluster:
    """The agents of torchrun, one a node, that train in one folder."""

    def __init__(
        self, corpus: Path, folder: Path, nodes: int, per_node: int, restarts: int
    ) -> None:
        self.log = Path(f"{folder}.log")
        command = [sys.executable, "-m", "torch.distributed.run"]
        command += [f"--nnodes={nodes}", f"--nproc-per-node={per_node}"]
        command += [f"--max-restarts={restarts}", "--monitor-interval=0.2"]
        command += ["--rdzv-backend=c10d", "--rdzv-id=job"]
        command += [f"--rdzv-endpoint=127.0.0.1:{find_open_port()}"]
        command += training(corpus, folder)
        self.agents = []
        for _ in range(nodes):
            with self.log.open("ab") as log:
                agent = subprocess.Popen(
                    command,
                    env=os.environ | {"OMP_NUM_THREADS": "1"},
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            self.agents.append(agent)

    def kill_worker(self) -> None:
        """Kill a process that trains."""
        agents = [agent.pid for agent in self.agents]
        found = []
        for pid, (parent, _, command) in processes().items():
            if parent in agents and "elmo_tasks" in command:
                found.append(pid)
        os.kill(found[-1], signal.SIGKILL)

    def wait(self) -> list[int]:
        """The exit codes."""
        return [agent.wait(timeout=SECONDS) for agent in self.agents]


@contextmanager
def cluster(
    corpus: Path, folder: Path, nodes: int, per_node: int, restarts: int = 0
) -> Iterator[Cluster]:
    """A cluster that is ended at the end, with its workers."""
    started = Cluster(corpus, folder, nodes, per_node, restarts)
    try:
        yield started
    finally:
        for agent in started.agents:
            agent.terminate()
        for agent in started.agents:
            agent.wait()


def training(corpus: Path, folder: Path, **keys: object) -> list[str]:
    """The arguments of a training of the toy corpus."""
    config = str(corpus / "training_config" / "bilm.jsonnet")
    data = str(corpus / "lm/train.a.txt")
    overrides = json.dumps(toy.overrides(train_data_path=data) | keys)
    return ["-m", "elmo_tasks", "train", config, "-s", str(folder), "-o", overrides]


def train_distributed(corpus: Path, folder: Path) -> None:
    """Training by this program, with two processes."""
    two = {"cuda_devices": [-1, -1]}
    subprocess.run(
        [sys.executable, *training(corpus, folder, distributed=two)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=True,
        timeout=SECONDS,
    )


def wait_for(path: Path) -> None:
    """Wait until a file exists."""
    until = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < until, f"{path} does not appear"
        time.sleep(0.02)


def test_nodes_and_kills_change_nothing(corpus: Path, tmp_path: Path) -> None:
    by_allennlp, nodes, killed = tmp_path / "one", tmp_path / "two", tmp_path / "three"
    train_distributed(corpus, by_allennlp)
    with cluster(corpus, nodes, 2, 1) as agents:
        assert agents.wait() == [0, 0], agents.log.read_text()[-3000:]
    assert differences(nodes, by_allennlp) == []
    with cluster(corpus, killed, 1, 2, restarts=3) as agents:
        wait_for(killed / "vocabulary")  # before any checkpoint
        agents.kill_worker()
        wait_for(killed / "model_state_e1_b4.th")
        agents.kill_worker()
        assert agents.wait() == [0], agents.log.read_text()[-3000:]
    assert differences(killed, by_allennlp) == []
