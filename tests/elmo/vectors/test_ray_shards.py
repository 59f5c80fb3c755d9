"""Shards on a Ray cluster that loses a node: the bytes of a single process."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.vectors.shards import ShardJob, write_shards
from elmo_tasks.errors import InputError
from elmo_tasks.system.ray_cluster import RayExecutor, connected
from tests.elmo.samples import write_bilm

pytestmark = pytest.mark.slow

ray = pytest.importorskip("ray")
LINES = [f"line {number} of a text" for number in range(80)]


@pytest.fixture
def job(tmp_path: Path) -> ShardJob:
    (tmp_path / "in.txt").write_text("\n".join(LINES))
    return ShardJob(
        elmo=Elmo.from_files(*write_bilm(tmp_path)), folder=tmp_path / "out"
    )


def test_a_cluster_that_loses_a_node(
    job: ShardJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ray.cluster_utils import Cluster

    root = Path(__file__).resolve().parents[3]
    monkeypatch.setenv("PYTHONPATH", f"{root}:{os.environ.get('PYTHONPATH', '')}")
    size = {"object_store_memory": 100 * 2**20}
    cluster = Cluster(
        True, head_node_args={"num_cpus": 0, "include_dashboard": False, **size}
    )
    nodes = [cluster.add_node(num_cpus=1, **size) for _ in range(2)]

    def lose_node(tokens: int) -> None:
        if len(nodes) == 2:
            cluster.remove_node(nodes.pop())

    def unshare(sentences: int, shards: int) -> None:
        shutil.rmtree(job.folder)

    files = [str(tmp_path / "in.txt")]
    try:
        with connected(cluster.address) as ray, RayExecutor(ray, 2) as executor:
            write_shards(job, files, 40, executor=executor, progress=lose_node)
        whole = ShardJob(elmo=job.elmo, folder=tmp_path / "whole")
        write_shards(whole, files, 40)
        parts = sorted(whole.folder.glob("part-*"))
        assert len(parts) == 40
        assert all(
            (job.folder / part.name).read_bytes() == part.read_bytes() for part in parts
        )
        message = "/out: the worker on .* cannot find this folder"
        with (
            connected(cluster.address) as ray,
            RayExecutor(ray, 2) as executor,
            pytest.raises(InputError, match=message),
        ):
            write_shards(job, files, 40, executor=executor, started=unshare)
    finally:
        cluster.shutdown()


def test_a_cluster_that_does_not_answer() -> None:
    start = time.monotonic()
    message = "no Ray cluster at 127.0.0.1:1: .*refused"
    with pytest.raises(InputError, match=message), connected("127.0.0.1:1"):
        pass
    assert time.monotonic() - start < 30


def test_a_cluster_that_the_command_starts_outlives_its_start() -> None:
    code = "import time; from elmo_tasks.system.ray_cluster import connect; ray = connect(None); time.sleep(2)"
    code += "; print(len(ray.nodes()))"
    environment = os.environ | {
        "RAY_ADDRESS": "local"
    }  # not the cluster of another test
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr[-1000:]
