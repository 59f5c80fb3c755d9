"""
A stand-in for torchvision, used only where no real one is installed or the real one fails.

AllenNLP 2.10.1 imports torchvision when it starts, though text never uses it. PyPI's torchvision
is built for PyPI's (CUDA) PyTorch; beside a CPU-only PyTorch it raises `operator torchvision::nms
does not exist`. The stand-in has to be in place before `allennlp` is imported, so it belongs to the
environment, not to the plugin: the wheel puts this module at the root of site-packages, with a
`.pth` file of the same name that imports it when Python starts. Until torchvision is asked for,
that adds one object to `sys.meta_path` and nothing else; so as not to slow every start of Python
down, this file imports next to nothing.

It can go when AllenNLP stops importing torchvision for text.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from types import ModuleType
    from typing import Any
else:
    Loader = object

STAND_INS = ("torchvision", "torchvision.ops", "torchvision.ops.boxes")
"""The modules that AllenNLP 2.10.1 imports when it starts; it uses them later, for images."""


def become_stand_in(module: ModuleType) -> None:
    """Empties `module`; every attribute is then an error that says what is missing."""
    for name in [name for name in vars(module) if not name.startswith("__")]:
        delattr(module, name)

    def refuse(attribute: str) -> Any:
        raise AttributeError(
            f"{module.__name__}.{attribute}: this is elmo_tasks' stand-in for torchvision, enough "
            "for text alone; images need a torchvision built for the installed PyTorch"
        )

    vars(module).update(__path__=[], __stand_in__=True, __getattr__=refuse)


class StandInLoader(Loader):
    """Makes the stand-in modules."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Uses Python's default."""

    def exec_module(self, module: ModuleType) -> None:
        become_stand_in(module)


class GuardedLoader(Loader):
    """Runs the real torchvision; where that fails, warns and leaves the stand-in."""

    def __init__(self, real: Loader) -> None:
        self.real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        try:
            self.real.exec_module(module)
        except Exception as error:  # a package built for another PyTorch may raise anything
            for name in [name for name in sys.modules if name.startswith("torchvision.")]:
                del sys.modules[name]
            become_stand_in(module)
            import warnings  # here, since it is hardly ever needed

            text = f"the installed torchvision does not work here ({error}): it is not used"
            warnings.warn(text, stacklevel=2)


class TorchvisionFinder:
    """Finds the real torchvision, guarded, wherever there is one, and the stand-in elsewhere."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "torchvision":
            return self._guarded_spec(name, path) or self._stand_in_spec(name)
        if name in STAND_INS and getattr(sys.modules.get("torchvision"), "__stand_in__", False):
            return self._stand_in_spec(name)
        return None

    def _guarded_spec(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path)
            # A folder of this name that is not a package has no loader.
            if spec is not None and spec.loader is not None:
                spec.loader = GuardedLoader(spec.loader)
                return spec
        return None

    def _stand_in_spec(self, name: str) -> ModuleSpec:
        return ModuleSpec(name, StandInLoader(), is_package=True)


def install() -> None:
    """Puts the finder before all others, once."""
    if not any(isinstance(finder, TorchvisionFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, TorchvisionFinder())


install()
