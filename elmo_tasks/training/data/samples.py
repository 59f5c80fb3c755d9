"""
What reads all of its data as soon as it is constructed or used helps `check`, which
constructs a training on its first instances.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class SampledReader(Protocol):
    """A dataset reader for which `max_instances` is not enough."""

    def limit_to_sample(self, count: int) -> None:
        """Read so many instances, or documents, at most."""


@runtime_checkable
class SampledVocabulary(Protocol):
    """A vocabulary that counts the words of files."""

    @classmethod
    def of_sample(cls, **arguments: Any) -> Any:
        """As its registered constructor, but without reading."""


@runtime_checkable
class SampledLoader(Protocol):
    """A data loader whose batches or data are not AllenNLP's."""

    @classmethod
    def config_of_sample(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """The config of one with small batches of the first instances."""
