"""A Ray cluster on this machine, some of whose nodes can be lost."""

from collections.abc import Iterator
from typing import Any

import pytest

SIZE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 * 2**20}


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A cluster of two nodes with a core each, besides its head, which has one."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        head = {"include_dashboard": False, **SIZE}
        started = Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(2):
                started.add_node(**SIZE)
            yield started
        finally:
            started.shutdown()
