"""
The entry point with which another package opens archives of classes that are not of
this package: a module, or another object, with the functions of `Opener`.
"""

from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from allennlp.common import Params
from allennlp.models.archival import Archive
from allennlp.predictors import Predictor

from elmo_tasks.host import OPENERS
from elmo_tasks.training.archives.outside import PARTS


class Opener(Protocol):
    """What another package does with the archives of its classes."""

    def load(
        self,
        folder: Path,
        config: Params,
        weights: Path,
        *,
        file: str | Path,
        cuda_device: int,
        allow_downloads: bool,
    ) -> Archive:
        """
        The archive `file`, which is unpacked in `folder`: its config is safe, and its
        weights are a state dictionary. Most openers end with `built`.
        """

    def needs(
        self, folder: Path, config: Params, weights: Path, predictor: str | None
    ) -> list[dict[str, str | None]]:
        """What the archive lacks, as `describe` lists it; nothing is fetched."""

    def predictor(
        self,
        archive: Archive,
        name: str | None,
        *,
        allow_downloads: bool,
    ) -> Predictor:
        """
        The archive's predictor of this registered name. Raises `InputError` if it
        cannot read raw text.
        """

    def page(self, predictor: str) -> dict[str, Any] | None:
        """
        What the page of `elmo-tasks serve` shows of a predictor, as `OtherModels` has
        it, and a `script` that is imported in the place of `static/answers.js`; `None`
        if it shows no such models.
        """


@cache
def registered_opener() -> Opener | None:
    """The opener of an installed package, if there is one."""
    for point in entry_points(group=OPENERS):
        opener: Opener = point.load()
        return opener
    return None


def opener_of(config: Params) -> Opener | None:
    """What opens an archive with this config; `None` for this package itself."""
    if _is_own(config):
        return None
    return registered_opener()


def _is_own(config: Params) -> bool:
    """Whether no class of its parts is that of another package."""
    for key, kind in PARTS.items():
        part = config.get(key)
        name = part.get("type") if isinstance(part, Params) else None
        if name not in kind.list_available():
            continue
        if not kind.by_name(name).__module__.startswith("elmo_tasks."):
            return False
    return True
