import platform
import subprocess
import sys

import pytest

PAGE_FAULTS_OF_LARGE_TENSORS = """
import resource, torch
from elmo_tasks.system.processes import keep_freed_memory
for prepare in (int, keep_freed_memory):
    prepare()
    for _ in range(20): torch.ones(2**24)
    start = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10): torch.ones(2**24)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - start)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc returns the memory"
)
def test_memory_of_freed_tensors_is_reused() -> None:
    counts = subprocess.check_output(
        [sys.executable, "-c", PAGE_FAULTS_OF_LARGE_TENSORS]
    )
    before, after = map(int, counts.split())
    assert after < before / 10
