"""
Makes AllenNLP 2.10.1 importable on today's Python, for everything here that imports it.
What it imports may be missing or have changed. Others take its place, in this process
alone and only while AllenNLP is imported, so that no other package sees them.

- torchvision, which AllenNLP uses on images alone. PyPI's raises an error beside a CPU
  build of torch. AllenNLP gets an empty module.
- `transformers.AdamW`, of which AllenNLP makes the optimizer `huggingface_adamw`.
  Transformers 4.50 has removed it. AllenNLP gets a class that says so when it is
  constructed.
- `transformers.AutoTokenizer`, to which AllenNLP passes `add_special_tokens`. Newer
  tokenizers reject the argument, which they had always ignored. AllenNLP's are made
  without it.
- What AllenNLP imports and most commands never use; see `held_back`.
"""

import atexit
import importlib
import importlib.util
import logging
import os
import pkgutil
import sys
import tempfile
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from elmo_tasks.errors import ALLENNLP, InputError, needs
from elmo_tasks.held_back import LazyAttribute, held_back

logger = logging.getLogger(__name__)

_IMPORTING = ("allennlp.commands", "allennlp.modules.vision")
"""What imports torchvision. AllenNLP imports the second when it looks for plugins."""

_TOKENIZING = "allennlp.common.cached_transformers"
"""What makes the tokenizers of transformers for all of AllenNLP."""

OPENERS = "elmo_tasks.archive_openers"
"""The entry points of packages that open archives of their classes; see `Opener`."""

_NOT_IMPORTED = (
    "allennlp.common.testing",
    "allennlp.confidence_checks.task_checklists",
    "allennlp.sanity_checks",
    "allennlp.tools",
)
"""Modules of AllenNLP that register nothing which commands use."""

_MODELS = ("AutoModel", "PreTrainedModel")
"""Classes of transformers which take long to import, and which few models need."""

_EMPTY = ("torchvision", "torchvision.ops", "torchvision.ops.boxes")
"""What AllenNLP imports."""


def load_allennlp() -> None:
    """
    Imports AllenNLP. Raises `InputError` if it or a package that it needs is missing,
    or has another version than it can be imported with.
    """
    if "allennlp.commands" in sys.modules:
        return
    _set_cache_folder()
    with needs(ALLENNLP):
        try:
            # Transformers looks for torchvision when it is imported, and must not find
            # the empty one.
            transformers = importlib.import_module("transformers")
            with _torchvision(), _adamw(transformers), held_back():
                importlib.import_module("allennlp.common")
                with _tokenizers(transformers):
                    importlib.import_module(_TOKENIZING)
                for name in _IMPORTING:
                    importlib.import_module(name)
        except ModuleNotFoundError:
            raise
        except (ImportError, AttributeError) as error:
            problem = f"AllenNLP cannot be imported: {error}"
            hint = f"install the versions that it needs: pip install {ALLENNLP}"
            raise InputError(problem, hint=hint) from error


def register_classes(packages: Sequence[str] = ()) -> None:
    """
    Imports AllenNLP and registers the classes of this package, of openers of archives,
    of AllenNLP's plugins that a file names, and of `packages`. Raises `InputError` as
    `load_allennlp` does.
    """
    load_allennlp()
    from allennlp.common.util import import_module_and_submodules

    importlib.import_module("elmo_tasks.plugin")
    _import_plugins()
    for package in packages:
        try:
            import_module_and_submodules(package)
        except ModuleNotFoundError as error:
            if not f"{package}.".startswith(f"{error.name}."):
                raise
            hint = "start in the folder that has it, or set PYTHONPATH"
            raise InputError(f"package {package} not found", hint=hint) from None


def import_submodules(package: str, exclude: Container[str] = ()) -> None:
    """
    Imports a package and the public modules below it. AllenNLP's function of this kind
    looks through all folders of the search path again at each of them.
    """
    module = importlib.import_module(package)
    for found in pkgutil.iter_modules(getattr(module, "__path__", [])):
        name = f"{package}.{found.name}"
        if not found.name.startswith("_") and name not in exclude:
            import_submodules(name, exclude)


def _import_plugins() -> None:
    """AllenNLP's `import_plugins`, with our openers in the place of its defaults."""
    from allennlp.common.plugins import discover_plugins

    with held_back():
        import_submodules("allennlp", _NOT_IMPORTED)
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
    _load_openers()
    for name in discover_plugins():
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            logger.error("plugin %s could not be loaded: %s", name, error)


def _load_openers() -> None:
    for point in entry_points(group=OPENERS):
        point.load()


def _set_cache_folder() -> None:
    """
    AllenNLP makes a folder below the home folder. Where that is not writable, it gets
    one that ends with the process: somebody else may have made one of a fixed name.
    """
    home = Path.home()
    if "ALLENNLP_CACHE_ROOT" in os.environ:
        return
    if not os.access(home if home.exists() else home.parent, os.W_OK):
        folder = tempfile.TemporaryDirectory(prefix="allennlp-")
        atexit.register(folder.cleanup)
        os.environ["ALLENNLP_CACHE_ROOT"] = folder.name


@contextmanager
def _torchvision() -> Iterator[None]:
    """
    Puts empty modules in the place of a torchvision that cannot be imported, and
    removes them at the end.
    """
    try:
        importlib.import_module("torchvision")
        is_sound = True
    except Exception:  # one for another torch raises errors of several types
        is_sound = False
    if is_sound:
        yield
        return
    before = {name: sys.modules.get(name) for name in _EMPTY}
    sys.modules.update({name: _Empty(name) for name in _EMPTY})
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


@contextmanager
def _adamw(transformers: ModuleType) -> Iterator[None]:
    """
    Lets transformers have a class `AdamW`, if it has none, and removes it at the end.
    The module itself can be made anew while AllenNLP is imported, and its type, which
    is transformers' own, cannot.
    """
    kind: Any = type(transformers)
    if hasattr(transformers, "AdamW") or kind is ModuleType:
        yield
        return
    kind.AdamW = _no_adamw()
    try:
        yield
    finally:
        del kind.AdamW


@contextmanager
def _tokenizers(transformers: ModuleType) -> Iterator[None]:
    """
    Puts a module in the place of transformers whose `AutoTokenizer` takes AllenNLP's
    arguments, and everything else of which is that of transformers; removes it at the
    end.
    """
    name = transformers.__name__
    before = sys.modules[name]
    sys.modules[name] = _Transformers(transformers)
    try:
        yield
    finally:
        sys.modules[name] = before


def _no_adamw() -> type:
    """
    An optimizer that cannot be constructed. Torch is imported here, since not every
    process needs it.
    """
    from torch.optim import AdamW

    class NoAdamW(AdamW):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            raise InputError(
                "the optimizer huggingface_adamw needs transformers before 4.50",
                hint="use the optimizer adamw, which is PyTorch's",
            )

    return NoAdamW


class _Transformers(ModuleType):
    """Transformers as AllenNLP's tokenizers see it."""

    def __init__(self, original: ModuleType) -> None:
        super().__init__(original.__name__)
        self.__spec__ = original.__spec__
        self.__path__ = original.__path__
        self._original = original
        self.AutoTokenizer = _AutoTokenizer
        for name in _MODELS:
            setattr(self, name, LazyAttribute(original.__name__, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


class _AutoTokenizer:
    """Makes tokenizers with AllenNLP's arguments."""

    @staticmethod
    def from_pretrained(
        name: str, *, add_special_tokens: bool = True, **options: Any
    ) -> Any:
        """
        A tokenizer. `add_special_tokens` has no effect: AllenNLP gives it again with
        each text.
        """
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(name, **options)


class _Empty(ModuleType):
    """
    A package without contents. AllenNLP keeps it under the name that it has imported.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{self.__name__} could not be imported, so it has no {name}"
        )


if __name__ == "__main__":  # AllenNLP's own program
    load_allennlp()
    _load_openers()
    from allennlp.__main__ import run

    run()
