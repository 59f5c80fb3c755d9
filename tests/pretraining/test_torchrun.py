"""
Training by torchrun on two nodes, which are two agents on this machine; processes and a
node are killed.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from allennlp.common.util import find_open_port

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.components.data_loader import LmDataLoader
from elmo_tasks.pretraining.components.reader import LmReader
from elmo_tasks.pretraining.text.sentences import read_sentences, share_of_files
from elmo_tasks.training.torchrun import Torchrun
from tests.distributed import in_processes
from tests.killing import differences
from tests.pretraining import toy
from tests.system import processes

pytestmark = pytest.mark.slow

SECONDS = 240
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
"""
As docs/SCALE.md has it: otherwise a node that joins again waits in vain for the address
of the first one.
"""


class Cluster:
    """Two nodes that train in one folder each."""

    def __init__(
        self, corpus: Path, folders: tuple[Path, Path], *, restarts: int
    ) -> None:
        self.corpus, self.folders, self.restarts = corpus, folders, restarts
        self.address = f"127.0.0.1:{find_open_port()}"
        self.agents = [self.start(0), self.start(1)]

    def start(self, node: int) -> subprocess.Popen[bytes]:
        """Start the agent of a node."""
        command = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--nnodes=2",
            "--nproc-per-node=1",
            "--rdzv-id=job",
        ]
        command += [
            f"--max-restarts={self.restarts}",
            "--rdzv-backend=c10d",
            f"--rdzv-endpoint={self.address}",
        ]
        command += [
            "--rdzv-conf",
            "is_host=" + str(int(node == 0)),
            "--monitor-interval=0.2",
        ]
        config = str(self.corpus / "training_config" / "bilm.jsonnet")
        command += ["-m", "elmo_tasks", "train", config, "-s", str(self.folders[node])]
        environment = {}
        for name, value in os.environ.items():
            if not name.startswith("ELMO_TASKS"):
                environment[name] = value
        with self.log(node).open("ab") as log:
            command += ["-o", json.dumps(toy.overrides())]
            environment |= ENVIRONMENT
            return subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def log(self, node: int) -> Path:
        """What a node prints."""
        return self.corpus / f"{self.folders[node].name}.node{node}.log"

    def worker(self, node: int) -> int:
        """The process that trains on a node."""
        found = []
        for pid, (parent, _, command) in processes().items():
            if parent == self.agents[node].pid and "elmo_tasks" in command:
                found.append(pid)
        (pid,) = found
        return pid

    def kill_worker(self, node: int) -> None:
        """Kill the process that trains on a node."""
        os.kill(self.worker(node), signal.SIGKILL)

    def lose(self, node: int) -> None:
        """Kill a node, and start it again."""
        worker = self.worker(node)
        self.agents[node].kill()
        os.kill(worker, signal.SIGKILL)
        self.agents[node].wait()
        self.agents[node] = self.start(node)

    def wait(self) -> list[int]:
        """The exit codes."""
        return [agent.wait(timeout=SECONDS) for agent in self.agents]

    def lines(self) -> str:
        """What both nodes printed."""
        return "".join(self.log(node).read_text() for node in range(2))


@contextmanager
def cluster(corpus: Path, *folders: Path, restarts: int = 0) -> Iterator[Cluster]:
    """
    A cluster that is killed at the end; both nodes have the last folder if there is one
    alone.
    """
    started = Cluster(corpus, (folders[0], folders[-1]), restarts=restarts)
    try:
        yield started
    finally:
        for agent in started.agents:
            agent.terminate()  # with its workers
        for agent in started.agents:
            agent.wait()


def wait_for(path: Path) -> None:
    """Wait until a file exists."""
    until = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < until, f"{path} does not appear"
        time.sleep(0.02)


def test_a_killed_process_and_a_killed_node_change_nothing(corpus: Path) -> None:
    undisturbed, disturbed = corpus / "undisturbed", corpus / "disturbed"
    with cluster(corpus, undisturbed) as nodes:
        assert nodes.wait() == [0, 0], nodes.lines()[-3000:]
    with cluster(corpus, disturbed, restarts=3) as nodes:
        wait_for(disturbed / "model_state_e0_b4.th")
        nodes.kill_worker(0)
        wait_for(disturbed / "model_state_e1_b4.th")
        nodes.lose(1)
        assert nodes.wait() == [0, 0], nodes.lines()[-3000:]
    assert differences(disturbed, undisturbed) == []


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ("there", "give -s a folder that all nodes share"),
        ("config", "the first process's config"),
        (None, None),
    ],
)
def test_nodes_that_differ(
    other: str | None,
    problem: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both processes report it, before a training begins."""
    monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", "False")
    (tmp_path / "here").mkdir()
    port = find_open_port()
    first = Torchrun(0, 2, 1, "127.0.0.1", port, 0, "job")
    second = Torchrun(1, 2, 1, "127.0.0.1", port, 0, "job")
    begun = threading.Event()

    def lead() -> None:
        with first.leading(tmp_path / "here", {}) as store:
            first.launch(store, {"trainer": {"cuda_device": -1}})
            assert begun.wait(SECONDS)

    def follow() -> None:
        folder = "there" if other == "there" else "here"
        config = {"seed": 1} if other == "config" else {}
        second.follow(tmp_path / folder, config, seconds=0.5)
        begun.set()

    with ThreadPoolExecutor(2) as threads:
        futures = [threads.submit(lead), threads.submit(follow)]
        errors = [future.exception() for future in futures]
    if problem is None:
        assert errors == [None, None]
    else:
        for error in errors:
            assert isinstance(error, InputError) and problem in str(error), errors


def test_each_node_reads_its_own_files(corpus: Path) -> None:
    """
    Two nodes of two processes: a node's rows are divided, and each token of its files
    is read once per pass.
    """
    files = sorted((corpus / "lm").glob("train.*"))
    assert sorted(share_of_files(files, 0, 2) + share_of_files(files, 1, 2)) == files
    words = LmVocabulary.from_corpus([str(file) for file in files], min_count=1)
    ids = {number: word for word, number in words.to_words().ids.items()}

    def read_pass() -> tuple[list[Path], list[str]]:
        loader = LmDataLoader(
            LmReader(), [str(file) for file in files], 8, unroll=10, steps_per_epoch=1
        )
        loader.index_with(words)
        found = []
        while loader.position()["forward"]["cycle"] == 0:
            (one,) = loader
            batch = one["batch"]
            assert batch.targets.shape == (2, 10, 2)
            found += [ids[number] for number in batch.targets[0].flatten().tolist()]
        return loader.files, found

    read: dict[int, list[str]] = {0: [], 1: []}
    results = in_processes(4, read_pass, LOCAL_WORLD_SIZE="2")
    for rank, (own, found) in enumerate(results):
        assert own == share_of_files(files, rank // 2, 2)
        read[rank // 2] += found
    for node in range(2):
        expected: Counter[str] = Counter()
        for sentence in read_sentences(share_of_files(files, node, 2)):
            expected.update(sentence)
            expected["</S>"] += 1
        missing = expected - Counter(read[node])
        longest = max(len(sentence) for sentence in read_sentences(files))
        assert sum(missing.values()) <= 4 * (longest + 1)
