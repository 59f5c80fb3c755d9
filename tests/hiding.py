"""Fresh Python processes in which torchvision is missing, or cannot be imported."""

import os
import sys
from pathlib import Path

from tests.system import output_of
from tests.tiny import ROOT

MISSING = """
import importlib.machinery, importlib.metadata, sys

class Hiding(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] == "torchvision":
            return None
        return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(importlib.machinery.PathFinder)] = Hiding
"""
"""
Python code, after which torchvision cannot be found, as where it is not installed.
"""

_BROKEN = """
import torchvision.extension
raise RuntimeError("operator torchvision::nms does not exist")
"""


def with_broken_torchvision(folder: Path) -> dict[str, str]:
    """
    Variables of a process whose torchvision raises the error of one that was built for
    another PyTorch.
    """
    package = folder / "torchvision"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(_BROKEN)
    (package / "extension.py").touch()
    return {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"}


def python(code: str, folder: Path, **variables: str) -> str:
    """What a fresh Python prints. Its errors are an `AssertionError`."""
    own = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return output_of([sys.executable, "-c", code], folder, os.environ | own | variables)
