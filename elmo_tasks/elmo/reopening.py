"""
Layers in pickles: how to open their files again, in place of their weights.
"""

from dataclasses import dataclass

from elmo_tasks.elmo.cache import CacheSettings
from elmo_tasks.elmo.layers import NO_CACHE, Layers
from elmo_tasks.elmo.models.files import is_remote
from elmo_tasks.elmo.sources.types import BILM, SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.published import BUNDLED


@dataclass(frozen=True)
class Reopening:
    """What names a biLM from any folder, its sha256, and how it was opened."""

    named: dict[str, str]
    sha256: str
    precision: str
    cache: CacheSettings
    device: str

    def layers(self) -> Layers:
        """
        The layers of this biLM. Raises `InputError` if it has changed since, or cannot
        be opened.
        """
        settings = SourceSettings.of({**self.named, "precision": self.precision})
        layers = Layers.open(settings, cache=self.cache).to(self.device)
        if layers.opened_files().sha256 != self.sha256:
            problem = "the model has changed since the pickle was written"
            raise InputError(
                f"{problem}; its sha256 was {self.sha256}", file=layers.name
            )
        return layers


def reopening(layers: Layers) -> Reopening | None:
    """How to open layers again; `None` if they are not of a biLM that has files."""
    files = layers.files
    if files is None or files.kind != BILM:
        return None
    named = {key: str(path) for key, path in files.paths.items()}
    if is_remote(files.name) or files.name == BUNDLED:
        named = {"model": files.name}
    cache = NO_CACHE
    if layers.cache is not None:
        cache = layers.cache.settings
    return Reopening(named, files.sha256, layers.precision, cache, str(layers.device))
