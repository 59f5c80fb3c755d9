"""
Lets AllenNLP 2.10.1 find the plugin from any folder, and import large packages only when it uses them.

AllenNLP imports the plugins that a file names and those in `allennlp.common.plugins.DEFAULT_PLUGINS`. Its modules
import transformers, spaCy, NLTK, torchvision (which fails beside some builds of PyTorch) and more.

The wheel puts this module at the root of site-packages, with a `.pth` file of the same name that imports it when Python
starts. It only adds one object to `sys.meta_path`, which appends the plugin to the list, and makes top-level imports of
the packages in `LAZY` by AllenNLP's modules give placeholders. On first use a placeholder imports the package, and is
replaced by the real object in AllenNLP's modules. Imports by other code, and inside functions, are not affected.

It can go when AllenNLP reads entry points and imports these packages where it uses them.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType
    from typing import Any

PLUGIN = "elmo_tasks.plugin"
HOLDER = "allennlp.common.plugins"
LAZY = (
    *("cached_path", "fairscale", "huggingface_hub", "nltk", "scipy"),
    *("sklearn", "spacy", "tensorboardX", "torchvision", "transformers"),
)


class Postponed:
    """A module that is imported on first use, or an attribute of one."""

    def __init__(self, name: str, parent: Postponed | None = None) -> None:
        self._name, self._parent = name, parent

    def _real(self) -> Any:
        from importlib import import_module

        if self._parent is None:
            real: Any = import_module(self._name)
        else:
            owner = self._parent._real()
            real = getattr(owner, self._name, None) or import_module(f"{owner.__name__}.{self._name}")
        for name, module in list(sys.modules.items()):
            if name.startswith("allennlp."):
                names = [key for key, value in list(vars(module).items()) if value is self]
                vars(module).update(dict.fromkeys(names, real))
        return real

    def __getattr__(self, name: str) -> Any:
        if name == "__parameters__" or name.startswith("__typing"):  # typing asks arguments of generic types
            raise AttributeError(name)
        return Postponed(name, self) if _is_top_level(sys._getframe(1)) else getattr(self._real(), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._real()(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._real()[key]

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._real())

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, self._real())

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type]:
        """As a base class: one before which the real class is inserted at the first instantiation."""

        class Base:
            def __new__(cls, *args: Any, **kwargs: Any) -> Any:
                real = self._real()
                for owner in [owner for owner in cls.__mro__ if Base in owner.__bases__]:
                    if real not in owner.__bases__:
                        place = owner.__bases__.index(Base)
                        owner.__bases__ = (*owner.__bases__[:place], real, *owner.__bases__[place:])
                return object.__new__(cls)

        return (Base,)


def _is_top_level(frame: FrameType) -> bool:
    """Whether a frame executes a module of AllenNLP, or the body of a class in one."""
    return not frame.f_code.co_flags & 1 and str(frame.f_globals.get("__name__")).partition(".")[0] == "allennlp"


def _postponing(import_now: Any) -> Any:
    """`__import__` that gives placeholders to AllenNLP's modules."""

    def import_later(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        root = name.partition(".")[0]
        wanted = name if fromlist else root
        if root in LAZY and not level and wanted not in sys.modules and _is_top_level(sys._getframe(1)):
            return Postponed(wanted)
        return import_now(name, globals, locals, fromlist, level)

    return import_later


class PluginFinder:
    """Finds AllenNLP's modules, which are executed with an `__import__` that postpones."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name.partition(".")[0] == "allennlp" else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            import builtins

            plain = builtins.__import__
            if getattr(plain, "__name__", "") != "import_later":
                builtins.__import__ = _postponing(plain)
            try:
                execute(module)
            finally:
                builtins.__import__ = plain
            if name == HOLDER:
                vars(module)["DEFAULT_PLUGINS"] = (*vars(module).get("DEFAULT_PLUGINS", ()), PLUGIN)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if not any(isinstance(finder, PluginFinder) for finder in sys.meta_path):
    sys.meta_path.insert(0, PluginFinder())
