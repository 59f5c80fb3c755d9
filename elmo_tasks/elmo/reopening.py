"""
Layers in pickles: how to open their files again, in place of their weights.
"""

from dataclasses import dataclass
from pathlib import Path

from elmo_tasks.elmo.layers import Layers
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
    cache_dir: Path | None
    device: str

    def layers(self) -> Layers:
        """
        The layers of this biLM. Raises `InputError` if it has changed since, or cannot
        be opened.
        """
        settings = SourceSettings.of({**self.named, "precision": self.precision})
        layers = Layers.open(settings, cache_dir=self.cache_dir).to(self.device)
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
    cache_dir = None
    if layers.cache is not None:
        cache_dir = layers.cache.cache_dir
    device = str(layers.device)
    return Reopening(named, files.sha256, layers.precision, cache_dir, device)
