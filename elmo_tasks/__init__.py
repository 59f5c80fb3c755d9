"""
The models of "Deep contextualized word representations" (Peters et al., 2018) as an
AllenNLP plugin.

Axis legend: one letter per axis, used in every shape comment and docstring of the
package.

| letter | axis |
|---|---|
| B | sentences of a batch |
| T | tokens of a sentence |
| C | characters of a token |
| L | layers of the biLM |
| D | width of a vector |
| S | spans |
| K | antecedents of a span |

The public names are imported when they are first used: importing the package itself
takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elmo_tasks.system.version import __version__

if TYPE_CHECKING:
    from elmo_tasks.elmo.sentence_embedder import Elmo
    from elmo_tasks.errors import InputError
    from elmo_tasks.integrations.allennlp import ElmoEmbedder
    from elmo_tasks.integrations.trained import load
    from elmo_tasks.pretraining.scores.surprisal import WordSurprisal

__all__ = [
    "Elmo",
    "ElmoEmbedder",
    "InputError",
    "WordSurprisal",
    "__version__",
    "load",
]

_MODULES = {
    "Elmo": "elmo_tasks.elmo.sentence_embedder",
    "ElmoEmbedder": "elmo_tasks.integrations.allennlp",
    "InputError": "elmo_tasks.errors",
    "WordSurprisal": "elmo_tasks.pretraining.scores.surprisal",
    "load": "elmo_tasks.integrations.trained",
}
"""Where the names are defined that are imported when they are used."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
