import platform
import subprocess
import sys

import pytest

PAGE_FAULTS_OF_LARGE_TENSORS = """
import resource, sys, torch
from elmo_tasks.processes import keep_freed_memory
if sys.argv[1:]: keep_freed_memory()
count = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20): torch.ones(2**24)
start = count()
for _ in range(10): torch.ones(2**24)
print(count() - start)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc returns the memory")
def test_memory_of_freed_tensors_is_reused() -> None:
    command = [sys.executable, "-c", PAGE_FAULTS_OF_LARGE_TENSORS]
    before, after = (int(subprocess.check_output([*command, *given])) for given in ((), ("keep",)))
    assert after < before / 10
