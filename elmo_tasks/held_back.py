"""
Modules that AllenNLP imports and that most commands never use: they take longer to
import than PyTorch. While AllenNLP is imported, stand-ins are in their places, in this
process alone. AllenNLP keeps the names that it imports from them; the module itself is
imported when one of these names is used. The same holds for spaCy and its own program.
"""

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

HELD_BACK = {
    "cached_path": "downloads",
    "cached_path.cache_file": "downloads",
    "cached_path.common": "annotations",
    "cached_path.file_lock": "downloads, and vocabularies",
    "cached_path.meta": "the list of what is downloaded",
    "nltk": "a metric of parses, and the nearest of registered names",
    "scipy": "fairness",
    "scipy.stats": "fairness, and Spearman's correlation",
    "sklearn": "fairness, and the area under a curve",
    "spacy": "its tokenizers",
    "spacy.cli.download": "its models",
    "spacy.language": "annotations",
    "spacy.tokens": "annotations, and tokens that spaCy has made",
    "tensorboardX": "its callback",
    "transformers.data.data_collator": "masked language models",
    "transformers.models.bert.modeling_bert": "models of images and texts",
}
"""Modules that AllenNLP imports, and for what it needs them."""


@contextmanager
def held_back(names: Iterable[str] = HELD_BACK) -> Iterator[None]:
    """
    Until the end, imports of these modules that have not been imported before import
    none of them. Those of packages that are not installed fail as always.
    """
    held = []
    for name in names:
        package = name.partition(".")[0]
        if name not in sys.modules and importlib.util.find_spec(package) is not None:
            held.append(name)
    for name in held:
        sys.modules[name] = _LazyModule(name)
    try:
        yield
    finally:
        for name in held:
            del sys.modules[name]


class _LazyModule(ModuleType):
    """Stands in for a module; each of its names is a `LazyAttribute`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return importlib.import_module(self.__name__).__version__
        if name.startswith("__"):
            raise AttributeError(f"{self.__name__} is not imported yet: no {name}")
        return LazyAttribute(self.__name__, name)


class LazyAttribute:
    """
    Stands in for what a module has under a name, such as `tokens.Token` of spaCy. The
    module is imported when it is called or indexed. As long as the module is not
    imported, nothing is an instance of it.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def _value(self) -> Any:
        path = self._module
        value: Any = importlib.import_module(path)
        for name in self._name.split("."):
            path = f"{path}.{name}"
            try:
                value = getattr(value, name)
            except AttributeError:
                value = importlib.import_module(path)
        return value

    def __getattr__(self, name: str) -> "LazyAttribute":
        if name.startswith("__"):
            raise AttributeError(f"{self._module} is not imported yet: no {name}")
        return LazyAttribute(self._module, f"{self._name}.{name}")

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._value()(*arguments, **keywords)

    def __getitem__(self, key: Any) -> Any:
        return self._value()[key]

    def __instancecheck__(self, instance: Any) -> bool:
        return self._module in sys.modules and isinstance(instance, self._value())
