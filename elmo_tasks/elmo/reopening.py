"""
Layers in pickles: how to open their files again, in place of their weights.
"""

from dataclasses import dataclass
from typing import Any

from elmo_tasks.elmo.cache import CacheSettings
from elmo_tasks.elmo.layers import NO_CACHE, Layers
from elmo_tasks.elmo.sources.types import BILM, SourceSettings
from elmo_tasks.errors import InputError


@dataclass(frozen=True)
class Reopening:
    """
    The files of a biLM with their sha256, two or that of a whole model twice, and how
    they were opened.
    """

    files: tuple[tuple[str, str], ...]
    precision: str
    cache: CacheSettings
    device: str

    def layers(self) -> Layers:
        """
        The layers from these files. Raises `InputError` if one has changed since, or
        cannot be opened.
        """
        paths = [path for path, _ in self.files]
        chosen: dict[str, Any] = {"precision": self.precision}
        if paths[0] == paths[1]:  # a whole model
            chosen["model"] = paths[0]
        else:
            chosen |= {"options_file": paths[0], "weight_file": paths[1]}
        settings = SourceSettings.of(chosen)
        layers = Layers.open(settings, cache=self.cache).to(self.device)
        opened = layers.opened_files()
        found = (opened.options_file, opened.weight_file)
        for file, (path, sha256) in zip(found, self.files, strict=True):
            if file.sha256 != sha256:
                problem = "the file has changed since the pickle was written"
                raise InputError(f"{problem}; its sha256 was {sha256}", file=path)
        return layers


def reopening(layers: Layers) -> Reopening | None:
    """How to open layers again; `None` if they are not of a biLM that has files."""
    files = layers.files
    if files is None or files.kind != BILM:
        return None
    opened = []
    for file in (files.options_file, files.weight_file):
        opened.append((file.absolute_name, file.sha256))
    cache = NO_CACHE
    if layers.cache is not None:
        cache = layers.cache.settings
    return Reopening(tuple(opened), layers.precision, cache, str(layers.device))
